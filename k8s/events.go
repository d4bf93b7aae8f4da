package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// maxEventMessage is the API server's limit, in bytes.
const maxEventMessage = 1024

// Events tells of requests and groups in Kubernetes events. They are sent in the
// background, repeated ones are counted up and floods are held back (as
// client-go does it), and one that cannot be sent is dropped: a status, never an
// event, is what others may rely on.
type Events struct {
	kube       kubernetes.Interface
	correlator *record.EventCorrelator
	queue      chan *corev1.Event
	done       chan struct{}
	cancel     context.CancelFunc

	mu     sync.Mutex
	closed bool
}

// NewEvents starts a recorder; end it with Shutdown.
func NewEvents(client *Client) *Events {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Events{
		kube:       client.Kube,
		correlator: record.NewEventCorrelator(clock.RealClock{}),
		queue:      make(chan *corev1.Event, 1024),
		done:       make(chan struct{}),
		cancel:     cancel,
	}
	go e.send(ctx)
	return e
}

// Normal tells of something that went well.
func (e *Events) Normal(req api.Request, reason, message string) {
	e.record(aboutRequest(req), corev1.EventTypeNormal, reason, message)
}

// Warning tells of something that somebody should look at.
func (e *Events) Warning(req api.Request, reason, message string) {
	e.record(aboutRequest(req), corev1.EventTypeWarning, reason, message)
}

// GroupNormal is Normal for a group of replicas.
func (e *Events) GroupNormal(g api.Group, reason, message string) {
	e.record(aboutGroup(g), corev1.EventTypeNormal, reason, message)
}

// GroupWarning is Warning for a group of replicas.
func (e *Events) GroupWarning(g api.Group, reason, message string) {
	e.record(aboutGroup(g), corev1.EventTypeWarning, reason, message)
}

func aboutRequest(req api.Request) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindDatabaseRequest,
		Namespace: req.Namespace, Name: req.Name, UID: types.UID(req.UID),
	}
}

func aboutGroup(g api.Group) corev1.ObjectReference {
	version := mendv1alpha1.GroupVersion
	if g.Kind == api.KindMariaDB {
		version = mariaDBResource.GroupVersion()
	}
	return corev1.ObjectReference{
		APIVersion: version.String(), Kind: g.Kind,
		Namespace: g.Namespace, Name: g.Name, UID: types.UID(g.UID),
	}
}

func (e *Events) record(about corev1.ObjectReference, kind, reason, message string) {
	now := metav1.Now()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: about.Namespace,
			Name:      fmt.Sprintf("%s.%x", about.Name, now.UnixNano()),
		},
		InvolvedObject:      about,
		Type:                kind,
		Reason:              reason,
		Message:             cutBytes(message, maxEventMessage),
		Source:              corev1.EventSource{Component: api.FieldManager},
		ReportingController: api.FieldManager,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	select {
	case e.queue <- event:
	default: // a server that is away must not hold up the work
	}
}

func (e *Events) send(ctx context.Context) {
	defer close(e.done)
	for event := range e.queue {
		if ctx.Err() != nil {
			return
		}
		e.sendOne(ctx, event)
	}
}

func (e *Events) sendOne(ctx context.Context, event *corev1.Event) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	result, err := e.correlator.EventCorrelate(event)
	if err != nil || result.Skip {
		return
	}
	events := e.kube.CoreV1().Events(event.Namespace)
	if result.Event.Count > 1 {
		// The correlator's patch names the count, message and time that changed.
		var changes map[string]any
		if json.Unmarshal(result.Patch, &changes) == nil && len(changes) > 0 {
			if stored, err := events.Patch(ctx, result.Event.Name, types.StrategicMergePatchType, result.Patch,
				metav1.PatchOptions{FieldManager: api.FieldManager}); err == nil {
				e.correlator.UpdateState(stored)
				return
			}
		}
		result.Event.ResourceVersion = ""
	}
	if stored, err := events.Create(ctx, result.Event, metav1.CreateOptions{FieldManager: api.FieldManager}); err == nil {
		e.correlator.UpdateState(stored)
	}
}

// Shutdown sends what is queued, until the context ends. Later events are dropped.
func (e *Events) Shutdown(ctx context.Context) {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.queue)
	}
	e.mu.Unlock()
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	e.cancel()
	<-e.done
}
