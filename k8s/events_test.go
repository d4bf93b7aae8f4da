package k8s_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/k8s"
)

func TestEvents(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	obj := created(t, c, request(namespace(t, c), "told"))
	req := k8s.Snapshot(obj)
	e := k8s.NewEvents(c)
	e.Normal(req, "Adopted", "the database is there")
	e.Warning(req, "Retrying", "no answer")
	e.Warning(req, "Retrying", "no answer")
	e.Warning(req, "Long", strings.Repeat("ä", 2000))
	gone := req
	gone.Namespace = "no-such-namespace"
	e.Warning(gone, "Lost", "this one cannot be sent")
	e.Shutdown(ctx)
	e.Shutdown(ctx)
	e.Normal(req, "Late", "after the end")

	list, err := c.Kube.CoreV1().Events(req.Namespace).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	byReason := map[string]corev1.Event{}
	for _, event := range list.Items {
		byReason[event.Reason] = event
	}
	require.Len(t, byReason, 3)
	adopted := byReason["Adopted"]
	require.Equal(t, "Normal", adopted.Type)
	require.Equal(t, "the database is there", adopted.Message)
	require.Equal(t, "seedmend", adopted.Source.Component)
	require.Equal(t, corev1.ObjectReference{APIVersion: "crd.lagoon.sh/v1alpha1", Kind: "DatabaseRequest", Namespace: req.Namespace, Name: "told", UID: obj.UID}, adopted.InvolvedObject)
	require.Equal(t, "Warning", byReason["Retrying"].Type)
	require.Equal(t, int32(2), byReason["Retrying"].Count, "the same again is counted")
	require.LessOrEqual(t, len(byReason["Long"].Message), 1024)
}

// A server that is away holds up neither the work nor the end.
func TestEventsWithoutAServer(t *testing.T) {
	kubeless, err := k8s.New(nowhere)
	require.NoError(t, err)
	e := k8s.NewEvents(kubeless)
	for range 3000 {
		e.Normal(k8s.Snapshot(request("ns", "x")), "R", "m")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	e.Shutdown(ctx)
	require.Less(t, time.Since(begin), 5*time.Second)
}
