package k8s_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

var sample = k8s.OutputSecret{Username: "u", Password: "p", Database: "d", Port: 3306, ReplicaHosts: []string{"r1", "r2"}}

// everyWrite does all that seedmend does to a request and around it.
func everyWrite(t *testing.T, c *k8s.Client, obj *v1alpha1.DatabaseRequest) {
	t.Helper()
	ctx, req := ctxFor(t), k8s.Snapshot(obj)
	_, err := c.ApplySecret(ctx, req, sample)
	require.NoError(t, err)
	for _, host := range []string{"db.example.com", "10.0.0.5", "db.example.com"} {
		_, err = c.ApplyService(ctx, req, host, 3306)
		require.NoError(t, err)
	}
	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	events := k8s.NewEvents(c)
	events.Normal(req, "Created", "done")
	events.Shutdown(ctx)
}

func TestOutputsFromNothing(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "req", func(r *v1alpha1.DatabaseRequest) { r.Spec.Name = "my-db-1" })))

	found, err := c.LookOutputs(ctx, req)
	require.NoError(t, err)
	require.Equal(t, k8s.Absent, found.Secret)
	require.Equal(t, k8s.Absent, found.Service)
	require.NoError(t, found.Taken())

	back, err := c.ApplySecret(ctx, req, sample)
	require.NoError(t, err)
	require.Equal(t, sample, back)
	style, err := c.ApplyService(ctx, req, "DB.Example.COM.", 3306)
	require.NoError(t, err)
	require.Equal(t, k8s.StyleExternalName, style)

	secret, err := c.ReadSecret(ctx, api.SecretRef{Namespace: req.Namespace, Name: "req"})
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{
		"MY_DB_1_USERNAME": []byte("u"), "MY_DB_1_PASSWORD": []byte("p"), "MY_DB_1_DATABASE": []byte("d"),
		"MY_DB_1_HOST": []byte("my-db-1"), "MY_DB_1_PORT": []byte("3306"), "MY_DB_1_READREPLICA_HOSTS": []byte("r1,r2"),
	}, secret.Data)
	require.Equal(t, map[string]string{"dbaas.lagoon.sh/secret": "true", "app.kubernetes.io/instance": "req"}, secret.Labels)
	ours(t, req, secret)
	service, err := c.Kube.CoreV1().Services(req.Namespace).Get(ctx, "my-db-1", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"dbaas.lagoon.sh/service": "true", "app.kubernetes.io/instance": "req"}, service.Labels)
	require.Equal(t, "db.example.com", service.Spec.ExternalName)
	ours(t, req, service)

	// Again: nothing changes. With less: our key goes.
	_, err = c.ApplySecret(ctx, req, sample)
	require.NoError(t, err)
	_, err = c.ApplyService(ctx, req, "db.example.com", 3306)
	require.NoError(t, err)
	found, err = c.LookOutputs(ctx, req)
	require.NoError(t, err)
	require.Equal(t, k8s.Ours, found.Secret)
	require.Equal(t, k8s.Ours, found.Service)
	require.Equal(t, sample, found.Held)
	again, err := c.ReadSecret(ctx, api.SecretRef{Namespace: req.Namespace, Name: "req"})
	require.NoError(t, err)
	require.Equal(t, secret.ResourceVersion, again.ResourceVersion)
	less := sample
	less.ReplicaHosts = nil
	back, err = c.ApplySecret(ctx, req, less)
	require.NoError(t, err)
	require.Equal(t, less, back)
	again, err = c.ReadSecret(ctx, api.SecretRef{Namespace: req.Namespace, Name: "req"})
	require.NoError(t, err)
	require.NotContains(t, again.Data, "MY_DB_1_READREPLICA_HOSTS")
}

// ours checks what makes an object ours: owner and field manager.
func ours(t *testing.T, req api.Request, obj metav1.Object) {
	t.Helper()
	require.Equal(t, []metav1.OwnerReference{{APIVersion: "crd.lagoon.sh/v1alpha1", Kind: "DatabaseRequest", Name: req.Name, UID: types.UID(req.UID), Controller: ptr(true)}}, obj.GetOwnerReferences())
	require.Len(t, obj.GetManagedFields(), 1)
	require.Equal(t, api.FieldManager, obj.GetManagedFields()[0].Manager)
	require.Equal(t, metav1.ManagedFieldsOperationApply, obj.GetManagedFields()[0].Operation)
}

func TestSecretValuesSurviveByteForByte(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "bytes")))
	var all bytes.Buffer
	for b := range 256 {
		all.WriteByte(byte(b))
	}
	out := k8s.OutputSecret{Username: " us'er\"`$\n", Password: all.String() + "\\'\"\r\n\x00", Database: "dätä base%_\n", Port: 1}
	back, err := c.ApplySecret(ctx, req, out)
	require.NoError(t, err)
	require.Equal(t, out, back)
	found, err := c.LookOutputs(ctx, req)
	require.NoError(t, err)
	require.Equal(t, out, found.Held)
	raw, err := c.ReadSecret(ctx, api.SecretRef{Namespace: req.Namespace, Name: req.Name})
	require.NoError(t, err)
	require.Equal(t, []byte(out.Password), raw.Data["MARIADB_PASSWORD"])
}

// F32: an object of that name that is not ours.
func TestForeignOutputs(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	ns := namespace(t, c)
	req := k8s.Snapshot(created(t, c, request(ns, "taken")))
	secret, err := c.Kube.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "taken", Labels: map[string]string{"theirs": "yes"}},
		Data:       map[string][]byte{"EXTRA": {0, 1, 2}, "MARIADB_HOST": []byte("theirs")},
	}, metav1.CreateOptions{FieldManager: "someone"})
	require.NoError(t, err)
	service, err := c.Kube.CoreV1().Services(ns).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "mariadb"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "theirs.example.com"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	found, err := c.LookOutputs(ctx, req)
	require.NoError(t, err)
	require.Equal(t, k8s.Foreign, found.Secret)
	require.Equal(t, k8s.Foreign, found.Service)
	require.Zero(t, found.Held)
	f := failureOf(t, found.Taken())
	require.Equal(t, api.OutputNameTaken, f.Reason)
	require.Equal(t, "A Secret named taken exists and does not belong to this request.", f.Message)

	_, err = c.ApplySecret(ctx, req, sample)
	require.Equal(t, api.OutputNameTaken, failureOf(t, err).Reason)
	for _, host := range []string{"db.example.com", "10.0.0.5"} {
		_, err = c.ApplyService(ctx, req, host, 3306)
		require.Equal(t, api.OutputNameTaken, failureOf(t, err).Reason)
	}
	same, err := c.ReadSecret(ctx, api.SecretRef{Namespace: ns, Name: "taken"})
	require.NoError(t, err)
	require.Equal(t, secret, same)
	sameService, err := c.Kube.CoreV1().Services(ns).Get(ctx, "mariadb", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, service.ResourceVersion, sameService.ResourceVersion)

	// The annotation has to name this request.
	annotate := func(value string) {
		_, err = c.Kube.CoreV1().Secrets(ns).Patch(ctx, "taken", types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"seedmend.dev/allow-overwrite":"`+value+`"}}}`), metav1.PatchOptions{FieldManager: "someone"})
		require.NoError(t, err)
	}
	annotate("another")
	_, err = c.ApplySecret(ctx, req, sample)
	require.Equal(t, api.OutputNameTaken, failureOf(t, err).Reason)
	annotate("taken")
	found, err = c.LookOutputs(ctx, req)
	require.NoError(t, err)
	require.Equal(t, k8s.OptedIn, found.Secret)
	for range 2 {
		back, err := c.ApplySecret(ctx, req, sample)
		require.NoError(t, err)
		require.Equal(t, sample, back)
	}
	got, err := c.ReadSecret(ctx, api.SecretRef{Namespace: ns, Name: "taken"})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 1, 2}, got.Data["EXTRA"])
	require.Equal(t, []byte("mariadb"), got.Data["MARIADB_HOST"])
	require.Len(t, got.Data, 7)
	require.Equal(t, map[string]string{"theirs": "yes"}, got.Labels)
	require.Empty(t, got.OwnerReferences)
	require.Equal(t, secret.UID, got.UID)
}

func TestOutputsOfAFormerRequestAreWaitedFor(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	obj := created(t, c, request(namespace(t, c), "again"))
	everyWrite(t, c, obj)
	former := k8s.Snapshot(obj)
	req := former
	req.UID = "5f0b0f8e-0000-4000-8000-000000000000"

	_, err := c.LookOutputs(ctx, req)
	require.Equal(t, api.ClusterConflict, failureOf(t, err).Reason)
	require.False(t, failureOf(t, err).Hard())
	_, err = c.ApplySecret(ctx, req, sample)
	require.Equal(t, api.ClusterConflict, failureOf(t, err).Reason)
	_, err = c.ApplyService(ctx, req, "db.example.com", 3306)
	require.Equal(t, api.ClusterConflict, failureOf(t, err).Reason)

	other := former
	other.Name, other.UID = "other", req.UID
	found, err := c.LookOutputs(ctx, other)
	require.NoError(t, err)
	require.Equal(t, k8s.Absent, found.Secret)
	require.Equal(t, "A Service named mariadb exists and belongs to DatabaseRequest again, not to this request.", failureOf(t, found.Taken()).Message)
}

func TestOutputsWithoutTheirNamespace(t *testing.T) {
	c, _ := cluster(t)
	req := api.Request{Namespace: "no-such-namespace", Name: "x", UID: "u", ServiceName: "x"}
	_, err := c.ApplySecret(ctxFor(t), req, sample)
	require.ErrorIs(t, err, k8s.ErrGone)
	_, err = c.ApplyService(ctxFor(t), req, "db.example.com", 3306)
	require.ErrorIs(t, err, k8s.ErrGone)
}

// A refusal about a Secret names the field, never the value.
func TestRefusedSecretIsNotEchoed(t *testing.T) {
	c, _ := cluster(t)
	ns := namespace(t, c)
	req := k8s.Snapshot(created(t, c, request(ns, "locked")))
	_, err := c.ApplySecret(ctxFor(t), req, sample)
	require.NoError(t, err)
	_, err = c.Kube.CoreV1().Secrets(ns).Patch(ctxFor(t), "locked", types.MergePatchType, []byte(`{"immutable":true}`), metav1.PatchOptions{})
	require.NoError(t, err)
	out := sample
	out.Password = "s3cr3t-hunter2"
	_, err = c.ApplySecret(ctxFor(t), req, out)
	f := failureOf(t, err)
	require.Equal(t, api.ClusterAPIError, f.Reason)
	require.Contains(t, f.Operator, "data")
	require.NotContains(t, f.Error(), "hunter2")
}

func TestSeedSecret(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	ref := api.SecretRef{Namespace: namespace(t, c), Name: "seed"}
	_, err := c.ReadSecret(ctx, ref)
	require.ErrorIs(t, err, k8s.ErrNotFound)
	_, err = c.Kube.CoreV1().Secrets(ref.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "seed"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	read, err := c.ReadSecret(ctx, ref)
	require.NoError(t, err)

	edited, err := c.Kube.CoreV1().Secrets(ref.Namespace).Patch(ctx, "seed", types.MergePatchType, []byte(`{"data":{"a":"YQ=="}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, c.DeleteSecret(ctx, ref, string(read.UID), read.ResourceVersion), k8s.ErrChanged)
	require.ErrorIs(t, c.DeleteSecret(ctx, ref, "another-uid", edited.ResourceVersion), k8s.ErrChanged)
	_, err = c.ReadSecret(ctx, ref)
	require.NoError(t, err)
	require.NoError(t, c.DeleteSecret(ctx, ref, string(edited.UID), edited.ResourceVersion))
	require.NoError(t, c.DeleteSecret(ctx, ref, string(edited.UID), edited.ResourceVersion), "gone already")
	_, err = c.Kube.CoreV1().Secrets(ref.Namespace).Get(ctx, "seed", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}
