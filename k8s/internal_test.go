package k8s

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

func TestCut(t *testing.T) {
	require.Equal(t, "äö", cut("äö", 2))
	require.Equal(t, "ä…", cut("äöü", 2))
	require.Equal(t, "äö", cutBytes("äö", 4))
	require.Equal(t, "ä…", cutBytes("äöü", 5))
	require.Equal(t, "…", cutBytes("äöü", 4))
	require.Equal(t, "\uFFFD", cut("\xff", 2))
}

// Every shape in which an informer tells of a deletion.
func TestDeletionsOfEveryShape(t *testing.T) {
	c, err := New(&rest.Config{Host: "http://127.0.0.1:1"})
	require.NoError(t, err)
	var gone []string
	w := NewWatch(c, WatchOptions{OnDelete: func(r *v1alpha1.DatabaseRequest) { gone = append(gone, r.Namespace+"/"+r.Name+" "+string(r.UID)) }})
	h := w.handler()
	obj := &v1alpha1.DatabaseRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1"}}
	again := &v1alpha1.DatabaseRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "2"}}
	h.OnDelete(obj)
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: obj})
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/b"})
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/b", Obj: (*v1alpha1.DatabaseRequest)(nil)})
	h.OnUpdate(obj, again)
	h.OnUpdate(obj, obj)
	h.OnDelete("nonsense")
	h.OnDelete(nil)
	h.OnDelete((*v1alpha1.DatabaseRequest)(nil))
	require.Equal(t, []string{"ns/a 1", "ns/a 1", "ns/b ", "ns/b ", "ns/a 1"}, gone)
}

// A kind that cannot be read for long is asked for again and again, and logged
// now and then.
func TestGate(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, "")
	for sentence, test := range map[string]struct {
		optional     bool
		err          error
		tries, lines int // in ten minutes
	}{
		"the CRD is missing":          {false, gone, 301, 10},
		"an optional CRD is missing":  {true, gone, 61, 0},
		"the server is away":          {false, syscall.ECONNREFUSED, 155, 10},
		"the role lacks it":           {false, apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("no")), 155, 10},
		"the role lacks an older one": {true, apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("no")), 155, 10},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				g := &gate{resource: "x", optional: test.optional, log: slog.New(slog.NewTextHandler(&log, nil))}
				begin, tries := time.Now(), 0
				_, err := retried(t.Context(), g, func() (int, error) {
					tries++
					if time.Since(begin) > 10*time.Minute {
						return 0, nil
					}
					return 0, test.err
				}, isForReflector)
				require.NoError(t, err)
				require.InDelta(t, test.tries, tries, 3)
				lines := strings.Count(log.String(), "\n")
				require.Equal(t, test.lines, lines-strings.Count(log.String(), "watching again"))
				require.Equal(t, test.lines > 0, strings.Contains(log.String(), "watching again"))
				require.False(t, g.failed())

				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = retried(ctx, g, func() (int, error) { return 0, test.err }, isForReflector)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.True(t, g.failed())
				require.Equal(t, apierrors.IsNotFound(test.err), g.missing())
			})
		})
	}
}
