package crash

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestThirtyCreationsSurviveFiveKills(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	orders := place(t, "thirty", 30)
	for range 5 {
		p := start(t)
		begun := time.Now()
		// A moment in the life of the process: from its start to well into its work.
		moment := time.Duration(random.IntN(3500)) * time.Millisecond
		for time.Since(begun) < moment {
			select {
			case <-p.Done():
				t.Fatal("seedmend ended by itself\n" + p.Log())
			case <-time.After(10 * time.Millisecond):
			}
		}
		p.Kill()
	}
	ready(t)
	delivered(t, orders, 3*time.Minute)
}

func TestF01KilledBetweenUserAndGrantOnlyFinishesItsOwnHalf(t *testing.T) {
	release := hold(t, "LOCK TABLES mysql.db WRITE") // GRANT waits for it
	first := ready(t)
	orders := place(t, "half", 1)
	eventually(t, 30*time.Second, "the account exists", func() bool {
		var n int
		return server.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM seedmend.claims WHERE database_name = 'half_00' AND phase = 'creating'").Scan(&n) == nil && n == 1 &&
			accountExists(t, "half-u00")
	})
	first.Kill()
	_, err := on.Client.Kube.CoreV1().Secrets("half").Get(t.Context(), "db-00", metav1.GetOptions{})
	require.Error(t, err, "no Secret before the creation is proven")
	release()
	ready(t)
	delivered(t, orders, time.Minute)
}

func TestF01KilledBetweenSecretAndStatus(t *testing.T) {
	forbid(t)
	first := ready(t)
	orders := place(t, "late", 1)
	eventually(t, 30*time.Second, "the Secret is written", func() bool {
		_, err := on.Client.Kube.CoreV1().Secrets("late").Get(t.Context(), "db-00", metav1.GetOptions{})
		return err == nil
	})
	first.Kill()
	r, err := on.Get(t.Context(), "late", "db-00")
	require.NoError(t, err)
	assert.Empty(t, r.Status.Conditions, "not Ready before the end")
	_, err = on.Client.Kube.CoreV1().Secrets("late").Get(t.Context(), "db-00-seed", metav1.GetOptions{})
	require.NoError(t, err, "the seed is deleted last")
	allow(t)
	ready(t)
	delivered(t, orders, time.Minute)
}

func TestF53ATermIsObeyedAndTheWorkGoesOnElsewhere(t *testing.T) {
	release := hold(t, "LOCK TABLES mysql.db WRITE")
	first := ready(t)
	orders := place(t, "rolling", 3)
	eventually(t, 30*time.Second, "an account exists", func() bool { return accountExists(t, "rolling-u00") })
	second := ready(t)
	asked := time.Now()
	first.Terminate()
	release()
	select {
	case <-first.Done():
	case <-time.After(25 * time.Second):
		t.Fatal("SIGTERM was not obeyed")
	}
	t.Logf("gone %s after SIGTERM", time.Since(asked).Round(time.Millisecond))
	delivered(t, orders, time.Minute)
	require.NoError(t, second.Stop())
}

func accountExists(t *testing.T, user string) bool {
	return count(t, "SELECT COUNT(*) FROM mysql.global_priv WHERE user = ?", user) == 1
}

const statusRule = "/rules/1/verbs"

// forbid takes the right to write a status away, and gives it back at the end.
func forbid(t *testing.T) {
	t.Helper()
	role, err := on.Client.Kube.RbacV1().ClusterRoles().Get(t.Context(), "seedmend", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, rbacv1.PolicyRule{APIGroups: []string{"crd.lagoon.sh"}, Resources: []string{"databaserequests/status"}, Verbs: []string{"patch"}}, role.Rules[1])
	patchRole(t, `[{"op":"replace","path":"`+statusRule+`","value":["get"]}]`)
	t.Cleanup(func() { allow(t) })
}

func allow(t *testing.T) {
	t.Helper()
	patchRole(t, `[{"op":"replace","path":"`+statusRule+`","value":["patch"]}]`)
}

func patchRole(t *testing.T, patch string) {
	t.Helper()
	_, err := on.Client.Kube.RbacV1().ClusterRoles().Patch(t.Context(), "seedmend", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
}
