package crash

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestThirtyCreationsSurviveFiveKills(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	orders := place(t, "thirty", 30)
	// Each kill comes at a random stage of the work: once so many claims stand.
	// What it leaves half-done comes back after ten seconds, when the workflow
	// tasks time out.
	stages := random.Perm(29)[:5]
	slices.Sort(stages)
	for _, stage := range stages {
		p := start(t)
		eventually(t, time.Minute, "the next stage", func() bool { return claims(t, "thirty") > stage })
		p.Kill()
		t.Logf("killed after stage %d: %d claims, %d of them ready", stage+1, claims(t, "thirty"),
			count(t, "SELECT COUNT(*) FROM seedmend.claims WHERE namespace = 'thirty' AND phase = 'ready'"))
	}
	ready(t)
	delivered(t, orders, 3*time.Minute)
}

func TestF01KilledInMidCreationOnlyFinishesItsOwnHalf(t *testing.T) {
	release := hold(t, "LOCK TABLES mysql.db WRITE") // CREATE USER waits for it
	first := ready(t)
	orders := place(t, "half", 1)
	eventually(t, 30*time.Second, "the database exists", func() bool { return databaseExists(t, "half_00") })
	first.Kill()
	assert.Equal(t, 1, count(t, "SELECT COUNT(*) FROM seedmend.claims WHERE database_name = 'half_00' AND phase = 'creating'"))
	assertNoSecret(t, "half")
	release()
	ready(t)
	delivered(t, orders, time.Minute)
}

func TestF01KilledBetweenUserAndSecret(t *testing.T) {
	forbid(t, secretsRule, `["get","delete"]`, `["get","create","patch","delete"]`)
	first := ready(t)
	orders := place(t, "early", 1)
	eventually(t, 30*time.Second, "the account exists", func() bool { return accountExists(t, "early-u00") })
	first.Kill()
	assertNoSecret(t, "early")
	allow(t, secretsRule, `["get","create","patch","delete"]`)
	ready(t)
	delivered(t, orders, time.Minute)
}

func TestF01KilledBetweenSecretAndStatus(t *testing.T) {
	forbid(t, statusRule, `["get"]`, `["patch"]`)
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
	allow(t, statusRule, `["patch"]`)
	ready(t)
	delivered(t, orders, time.Minute)
}

func TestF53ATermIsObeyedAndTheWorkGoesOnElsewhere(t *testing.T) {
	release := hold(t, "LOCK TABLES mysql.db WRITE")
	first := ready(t)
	orders := place(t, "rolling", 3)
	eventually(t, 30*time.Second, "a database exists", func() bool { return databaseExists(t, "rolling_00") })
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

// claims counts the claims of a namespace; there is no table before the first.
func claims(t *testing.T, namespace string) (n int) {
	t.Helper()
	_ = server.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM seedmend.claims WHERE namespace = ?", namespace).Scan(&n)
	return n
}

func TestF01KilledAfterTheLastStepBeforeTheAnswer(t *testing.T) {
	release := hold(t, "LOCK TABLES mysql.db WRITE")
	first := ready(t)
	orders := place(t, "answer", 1)
	eventually(t, 30*time.Second, "the creation is under way", func() bool { return databaseExists(t, "answer_00") })
	require.NoError(t, on.Temporal.Pause()) // the workflow task cannot be completed
	release()
	eventually(t, 30*time.Second, "the seed is deleted", func() bool {
		_, err := on.Client.Kube.CoreV1().Secrets("answer").Get(t.Context(), "db-00-seed", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	first.Kill()
	require.NoError(t, on.Temporal.Resume())
	ready(t)
	ended(t, "database:answer/db-00")
	delivered(t, orders, time.Minute)
}

// ended waits for a workflow's end, which must not be a failure.
func ended(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, on.Workflows.GetWorkflow(t.Context(), id, "").Get(within(t, time.Minute), nil))
}

func databaseExists(t *testing.T, name string) bool {
	return count(t, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name) == 1
}

func assertNoSecret(t *testing.T, namespace string) {
	t.Helper()
	_, err := on.Client.Kube.CoreV1().Secrets(namespace).Get(t.Context(), "db-00", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "no Secret before the creation is proven")
}

// Where the verbs stand in the role that the stage gives to seedmend.
const (
	statusRule  = "/rules/1/verbs"
	secretsRule = "/rules/3/verbs"
)

// forbid takes verbs away, and gives them back at the end of the test.
func forbid(t *testing.T, rule, less, all string) {
	t.Helper()
	allow(t, rule, less)
	t.Cleanup(func() { allow(t, rule, all) })
}

func allow(t *testing.T, rule, verbs string) {
	t.Helper()
	patch := `[{"op":"replace","path":"` + rule + `","value":` + verbs + `}]`
	_, err := on.Client.Kube.RbacV1().ClusterRoles().Patch(context.Background(), "seedmend", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
}
