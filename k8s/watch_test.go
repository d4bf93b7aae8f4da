package k8s_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// seen is what a watch told.
type seen struct {
	mu   sync.Mutex
	said []string
}

func (s *seen) add(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func (s *seen) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, each := range s.said {
		if each == what {
			n++
		}
	}
	return n
}

func (s *seen) options() k8s.WatchOptions {
	return k8s.WatchOptions{
		OnRequest: func(obj *v1alpha1.DatabaseRequest, initial bool) {
			if initial {
				s.add("initial %s", obj.Name)
			} else {
				s.add("changed %s", obj.Name)
			}
			if len(obj.ManagedFields) > 0 {
				s.add("managed fields")
			}
		},
		OnDelete: func(obj *v1alpha1.DatabaseRequest) { s.add("deleted %s %s", obj.Name, obj.UID) },
	}
}

// runWatch runs a watch until the test ends, and waits for its end.
func runWatch(t *testing.T, c *k8s.Client, opts k8s.WatchOptions) *k8s.Watch {
	t.Helper()
	w := k8s.NewWatch(c, opts)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Error("the watch does not end")
		}
	})
	return w
}

func deleteCRD(t *testing.T, c *dynamic.DynamicClient, name string) {
	t.Helper()
	crds := c.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	require.NoError(t, crds.Delete(ctxFor(t), name, metav1.DeleteOptions{}))
	soon(t, 20*time.Second, "the CRD goes", func() bool {
		_, err := crds.Get(ctxFor(t), name, metav1.GetOptions{})
		return err != nil
	})
}

// F47 and F48(a), on a server of its own: CRDs that come late, go and come
// back; a watch that is cut, with a deletion that nobody saw.
func TestWatchSurvives(t *testing.T) {
	t.Parallel()
	kube := ownKube(t)
	c := client(t, kube)
	proxy := newProxy(t, kube)
	through, err := k8s.New(proxy.config(kube.Config))
	require.NoError(t, err)

	var s seen
	w := runWatch(t, through, s.options())
	time.Sleep(500 * time.Millisecond) // long enough to have found no CRD
	require.False(t, w.Synced())
	_, err = w.Catalog().Match("mysql", "development", "db", 0)
	require.Equal(t, "The providers are not known yet.", failureOf(t, err).Message)

	// F47: the CRDs show up.
	require.NoError(t, k8s.InstallCRDs(ctxFor(t), kube.Config))
	ns := namespace(t, c)
	first := created(t, c, request(ns, "first"))
	soon(t, 5*time.Second, "handled soon after its CRD", func() bool { return s.count("initial first")+s.count("changed first") > 0 })
	soon(t, 5*time.Second, "synced", w.Synced)

	// F48(a): the watch is cut, a request goes, and the server forgets the event.
	second := created(t, c, request(ns, "second"))
	soon(t, 5*time.Second, "seen", func() bool { return s.count("changed second") > 0 })
	proxy.cut()
	require.NoError(t, c.DatabaseRequests(ns).Delete(ctxFor(t), "first", metav1.DeleteOptions{}))
	require.NoError(t, c.DatabaseRequests(ns).Delete(ctxFor(t), "second", metav1.DeleteOptions{}))
	again := created(t, c, request(ns, "second"))
	require.NoError(t, kube.Stop(ctxFor(t)))
	require.NoError(t, kube.Start(ctxFor(t)))
	proxy.restore(t)
	third := created(t, c, request(ns, "third"))
	soon(t, 10*time.Second, "watching again", func() bool { return s.count("changed third") > 0 })
	soon(t, 5*time.Second, "the deletion is told", func() bool { return s.count(fmt.Sprintf("deleted first %s", first.UID)) == 1 })
	require.Equal(t, 1, s.count(fmt.Sprintf("deleted second %s", second.UID)), "and so is that of an object made anew")
	require.Zero(t, s.count(fmt.Sprintf("deleted second %s", again.UID)))

	// The CRDs go, with all that was in them, and come back.
	d, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)
	deleteCRD(t, d, "databaserequests.crd.lagoon.sh")
	deleteCRD(t, d, "databasemysqlproviders.crd.lagoon.sh")
	soon(t, 10*time.Second, "not synced while it is missing", func() bool { return !w.Synced() })
	require.Equal(t, 1, s.count(fmt.Sprintf("deleted third %s", third.UID)))
	require.NoError(t, k8s.InstallCRDs(ctxFor(t), kube.Config))
	created(t, c, request(ns, "fourth"))
	soon(t, 10*time.Second, "handled again", func() bool { return s.count("changed fourth")+s.count("initial fourth") > 0 })
	soon(t, 5*time.Second, "synced", w.Synced)
	require.Equal(t, 1, s.count(fmt.Sprintf("deleted first %s", first.UID)), "once and for all")
	require.Zero(t, s.count("managed fields"))
}

func TestWatchTellsWhatWasThere(t *testing.T) {
	c, _ := cluster(t)
	ns := namespace(t, c)
	created(t, c, request(ns, "before-the-watch"))
	var s seen
	opts := s.options()
	opts.Resync = time.Second
	w := runWatch(t, c, opts)
	soon(t, 10*time.Second, "synced", w.Synced)
	require.Equal(t, 1, s.count("initial before-the-watch"), "synced means handed over")
	created(t, c, request(ns, "after-the-start"))
	soon(t, 5*time.Second, "seen", func() bool { return s.count("changed after-the-start") > 0 })
	soon(t, 10*time.Second, "resync", func() bool { return s.count("changed before-the-watch") > 0 })
	require.NotEmpty(t, w.Requests())
}
