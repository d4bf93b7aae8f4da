package crash

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/tests/stage"
)

func TestF53ATemporalNamespaceThatIsLateIsWaitedFor(t *testing.T) {
	on.TemporalNamespace = "late-namespace"
	t.Cleanup(func() { on.TemporalNamespace = "" })
	p := start(t)
	eventually(t, 20*time.Second, "alive", func() bool { return status(t, p, "/livez") == http.StatusOK })
	pass(t, 5*time.Second)
	assert.Equal(t, http.StatusServiceUnavailable, status(t, p, "/readyz"))
	assert.Equal(t, http.StatusOK, status(t, p, "/livez"))
	_, err := on.Workflows.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: "late-namespace", WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	require.NoError(t, err)
	require.NoError(t, p.Ready(within(t, 2*time.Minute)))
	delivered(t, place(t, "patient", 1), 2*time.Minute)
}

// Last in the file order: it takes the CRDs away, and every request with them.
func TestF47ACRDThatIsLateIsWaitedFor(t *testing.T) {
	crds := dynamic.NewForConfigOrDie(on.Kube.Config).Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, name := range []string{"databaserequests.crd.lagoon.sh", "relationaldatabaseproviders.crd.lagoon.sh", "databasemysqlproviders.crd.lagoon.sh"} {
		require.NoError(t, crds.Delete(t.Context(), name, metav1.DeleteOptions{}))
		eventually(t, time.Minute, name+" is gone", func() bool {
			_, err := crds.Get(t.Context(), name, metav1.GetOptions{})
			return err != nil
		})
	}
	p := start(t)
	eventually(t, 20*time.Second, "alive", func() bool { return status(t, p, "/livez") == http.StatusOK })
	pass(t, 10*time.Second)
	assert.Equal(t, http.StatusServiceUnavailable, status(t, p, "/readyz"))
	require.NoError(t, k8s.InstallCRDs(within(t, time.Minute), on.Kube.Config))
	applied := time.Now()
	require.NoError(t, on.Client.Kube.CoreV1().Secrets(stage.ProviderNamespace).Delete(t.Context(), "development-one", metav1.DeleteOptions{}))
	require.NoError(t, on.Provider(t.Context(), "development", "development", server))
	delivered(t, place(t, "crdlate", 1), 30*time.Second)
	t.Logf("Ready %s after the CRDs", time.Since(applied).Round(time.Millisecond))
	assert.NoError(t, p.Ready(within(t, time.Second)))
}

func status(t *testing.T, p *stage.Process, path string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.HealthURL+path, http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
