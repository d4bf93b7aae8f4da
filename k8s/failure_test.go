package k8s_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
)

// nowhere is a port that nobody listens on.
var nowhere = &rest.Config{Host: "http://127.0.0.1:1"}

const hunter = "hunter2"

func TestFailure(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	kind := schema.GroupKind{Kind: "Secret"}
	for sentence, test := range map[string]struct {
		err    error
		reason api.Reason
	}{
		"conflict":       {apierrors.NewConflict(secrets, "x", errors.New(hunter)), api.ClusterConflict},
		"already exists": {apierrors.NewAlreadyExists(secrets, "x"), api.ClusterConflict},
		"forbidden":      {apierrors.NewForbidden(secrets, "x", errors.New("the password "+hunter+" is weak")), api.ClusterAPIError},
		"invalid": {apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(field.NewPath("data"), hunter, "bad "+hunter)}),
			api.ClusterAPIError},
		"bad request": {apierrors.NewBadRequest(hunter), api.ClusterAPIError},
		"429":         {apierrors.NewTooManyRequests(hunter, 1), api.ClusterAPIError},
		"500":         {apierrors.NewInternalError(errors.New(hunter)), api.ClusterAPIError},
		"proxy":       {apierrors.NewGenericServerResponse(502, "patch", secrets, "x", hunter, 0, true), api.ClusterAPIError},
		"wrapped":     {fmt.Errorf("while writing: %w", apierrors.NewInternalError(errors.New(hunter))), api.ClusterAPIError},
		"no answer":   {errors.New("cannot decode " + hunter), api.ClusterAPIError},
		"deadline":    {fmt.Errorf("x: %w", context.DeadlineExceeded), api.ClusterAPIError},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := failureOf(t, k8s.Failure(test.err))
			require.Equal(t, test.reason, f.Reason)
			require.False(t, f.Hard())
			require.NotContains(t, f.Error(), hunter)
		})
	}
	own := api.Failf(api.UserConflict, "x")
	for _, same := range []error{nil, own, fmt.Errorf("x: %w", own), k8s.ErrGone, k8s.ErrNotFound, k8s.ErrChanged, context.Canceled} {
		require.Equal(t, same, k8s.Failure(same))
	}
}

// What goes wrong on the way, for a Secret and for another kind.
func TestFailuresOnTheWay(t *testing.T) {
	ref := api.SecretRef{Namespace: "ns", Name: "x"}
	c, err := k8s.New(nowhere)
	require.NoError(t, err)
	_, err = c.ReadSecret(t.Context(), ref)
	f := failureOf(t, err)
	require.Equal(t, api.ClusterAPIError, f.Reason)
	require.Equal(t, "The Kubernetes API did not answer (get secrets ns/x).", f.Message)
	require.Contains(t, f.Operator, "connection refused")

	answer := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer)
		_, _ = w.Write([]byte(`{"kind":"Secret","apiVersion":"v1","data":{"password":"` + hunter + `"`))
	}))
	t.Cleanup(server.Close)
	c, err = k8s.New(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	for _, answer = range []int{http.StatusOK, http.StatusBadGateway, http.StatusTeapot} {
		_, err = c.ReadSecret(t.Context(), ref)
		require.NotContains(t, failureOf(t, err).Error(), hunter)
		_, err = c.ApplySecret(t.Context(), api.Request{Namespace: "ns", Name: "x", ServiceName: "x"}, sample)
		require.NotContains(t, failureOf(t, err).Error(), hunter)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, err = c.ReadSecret(ctx, ref)
	require.Equal(t, api.ClusterAPIError, failureOf(t, err).Reason)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = c.ReadSecret(ctx, ref)
	require.ErrorIs(t, err, context.Canceled)
}
