package story

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// scene is one request and what it should come to.
type scene struct {
	request string // its name; the seed is <request>-seed
	title   string
	shows   string
	want    api.Reason
	// server is where the seed leads, and where arrange runs first.
	server   *lab.MariaDB
	arrange  []string
	seed     map[string]string
	selector string // default development
	rows     string // a table whose rows have to stay as they are
	// perform is what happens; default: the request is made and settles.
	perform func(context.Context, *story, scene, *result) (stage.Settlement, error)
	// check adds evidence of this scene's own.
	check func(*result)
	// mend is the whole of a scene about a replica.
	mend func(context.Context, *result) error
}

func (sc scene) succeeds() bool { return sc.want == api.ReasonAdopted || sc.want == api.ReasonCreated }

// result is what came of a scene.
type result struct {
	request  string
	want     api.Reason
	got      api.Reason
	ready    bool
	mended   bool // it is about a replica
	message  string
	took     time.Duration
	keys     []string // of the Secret
	link     string
	seed     string // its version before the request was made
	evidence []string
	wrong    []string
}

func (r *result) expect(right bool, format string, args ...any) {
	if !right {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

func (r *result) shown(format string, args ...any) {
	r.evidence = append(r.evidence, fmt.Sprintf(format, args...))
}

func (s *story) show(ctx context.Context, sc scene) result {
	r := result{request: sc.request, want: sc.want, link: s.link(sc.request)}
	try := func(ctx context.Context) error { return s.try(ctx, sc, &r) }
	if sc.mend != nil {
		try = func(ctx context.Context) error { return sc.mend(ctx, &r) }
	}
	if err := try(ctx); err != nil {
		r.expect(false, "%v", err)
	}
	return r
}

func (s *story) try(ctx context.Context, sc scene, r *result) error {
	ctx, cancel := context.WithTimeout(ctx, 2*settleTimeout)
	defer cancel()
	for _, statement := range sc.arrange {
		if _, err := sc.server.DB().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("set the scene: %w", err)
		}
	}
	before, err := s.world(ctx, sc)
	if err != nil {
		return err
	}
	perform := sc.perform
	if perform == nil {
		perform = perfectlyPlain
	}
	stop := s.wait("working")
	defer stop()
	settled, err := perform(ctx, s, sc, r)
	if err != nil {
		return err
	}
	r.judge(settled.Request)
	if err := s.checkWorkflow(ctx, sc, r); err != nil {
		return err
	}
	if err := s.checkOutputs(ctx, sc, r); err != nil {
		return err
	}
	after, err := s.world(ctx, sc)
	if err != nil {
		return err
	}
	before.compare(after, sc, r)
	if sc.check != nil {
		sc.check(r)
	}
	return nil
}

func perfectlyPlain(ctx context.Context, s *story, sc scene, r *result) (stage.Settlement, error) {
	began, err := s.place(ctx, sc, r)
	if err != nil {
		return stage.Settlement{}, err
	}
	settled, err := s.await(ctx, sc.request)
	r.took = settled.At.Sub(began)
	return settled, err
}

// place makes the seed and the request; began is just before the request.
func (s *story) place(ctx context.Context, sc scene, r *result) (began time.Time, err error) {
	if err := s.stage.Secret(ctx, namespace, sc.request+"-seed", sc.seed); err != nil {
		return began, err
	}
	seed, err := s.secret(ctx, sc.request+"-seed")
	if err != nil {
		return began, err
	}
	r.seed = seed.ResourceVersion
	began = time.Now()
	_, err = s.stage.Request(ctx, namespace, sc.request, func(r *v1alpha1.DatabaseRequest) {
		if sc.selector != "" {
			r.Spec.Selector = sc.selector
		}
	})
	return began, err
}

// await waits until a watch shows that a request has settled.
func (s *story) await(ctx context.Context, request string) (stage.Settlement, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		select {
		case settled, open := <-s.settled:
			if !open {
				return settled, errors.New("the watch on the requests broke")
			}
			if settled.Request.Name == request {
				return settled, nil
			}
		case <-ctx.Done():
			return stage.Settlement{}, fmt.Errorf("not settled after %s", settleTimeout)
		}
	}
}

// judge reads the conditions.
func (r *result) judge(obj *v1alpha1.DatabaseRequest) {
	conditions := map[string]metav1.Condition{}
	for _, c := range obj.Status.Conditions {
		conditions[c.Type] = c
		r.expect(c.ObservedGeneration == obj.Generation, "condition %s is of generation %d, not %d", c.Type, c.ObservedGeneration, obj.Generation)
	}
	ready, failed := conditions[api.ConditionReady], conditions[api.ConditionError]
	r.got, r.ready, r.message = api.Reason(ready.Reason), ready.Status == metav1.ConditionTrue, ready.Message
	r.expect(r.got == r.want, "the outcome is %s, not %s", r.got, r.want)
	if r.ready {
		r.expect(failed.Status == metav1.ConditionFalse, "it is Ready, and Error is %q", failed.Status)
		return
	}
	r.expect(ready.Status == metav1.ConditionFalse, "Ready is %q", ready.Status)
	r.expect(failed.Status == metav1.ConditionTrue && failed.Reason == ready.Reason, "it failed with %s, and Error is %q with %s", ready.Reason, failed.Status, failed.Reason)
}
