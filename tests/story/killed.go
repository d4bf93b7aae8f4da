package story

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage"
)

func (s *story) killed() scene {
	sc := s.scene("killed", s.two)
	sc.title, sc.want = "A crash in the middle of a creation", api.ReasonCreated
	sc.shows = "seedmend gets SIGKILL between CREATE USER and GRANT, and is started again. The claim on the server says whose half that is."
	sc.perform = kill
	return sc
}

// kill performs the scene: what seedmend would send next is kept back, so that
// the moment of the crash is not a matter of luck.
func kill(ctx context.Context, s *story, sc scene, r *result) (stage.Settlement, error) {
	none := stage.Settlement{}
	held := s.gate.Hold("GRANT ")
	defer s.gate.Release()
	began, err := s.place(ctx, sc, r)
	if err != nil {
		return none, err
	}
	select {
	case <-held:
	case <-time.After(settleTimeout):
		return none, errors.New("no GRANT was sent")
	case <-ctx.Done():
		return none, ctx.Err()
	}
	s.process.Kill()
	s.gate.Release()
	s.item("SIGKILL sent to pid %d while its GRANT was on the way", s.process.PID())
	half, err := s.half(ctx, sc, r)
	if err != nil {
		return none, err
	}
	run, err := s.runID(ctx, sc)
	if err != nil {
		return none, err
	}
	restarted := time.Now()
	if err := s.startSeedmend(ctx); err != nil {
		return none, err
	}
	settled, err := s.await(ctx, sc.request)
	if err != nil {
		return none, err
	}
	r.took = settled.At.Sub(began)
	r.shown("Ready %s after the new start; Temporal waits up to 10 s for the dead worker's answer before another gets the task", seconds(settled.At.Sub(restarted)))
	again, err := s.runID(ctx, sc)
	if err != nil {
		return none, err
	}
	r.expect(run == again, "the creation was finished by another run (%s, not %s)", again, run)
	whole, err := look(ctx, s.two)
	if err != nil {
		return none, err
	}
	_, less := half.change(whole)
	less["claims"] = nil // its phase changes
	r.expect(less.empty(), "the half that was there has been changed: %s", less.words())
	r.shown("the same workflow run finished it, with the same account row as before the crash")
	return settled, nil
}

// half looks at what the crash left, and shows it.
func (s *story) half(ctx context.Context, sc scene, r *result) (state, error) {
	half, err := look(ctx, s.two)
	if err != nil {
		return nil, err
	}
	secret, err := s.secret(ctx, sc.request)
	if err != nil {
		return nil, err
	}
	request, err := s.stage.Get(ctx, namespace, sc.request)
	if err != nil {
		return nil, err
	}
	account := sc.seed["username"] + "@%"
	database, user, grant := half.has("databases", sc.seed["database"]), half.has("accounts", account+" "), half.has("grants", account)
	claim, err := list(ctx, s.two, "SELECT CONCAT(origin, ', phase ', phase) FROM seedmend.claims WHERE database_name = ?", sc.seed["database"])
	if err != nil {
		return nil, err
	}
	s.item("left on mariadb-2: database %s, account %s, grant %s, claim: %q", there(database), there(user), there(grant), claim)
	s.item("left in the cluster: Secret %s, request settled: %t", there(secret != nil), stage.IsSettled(request))
	r.expect(database && user && !grant && len(claim) == 1 && claim[0] == "created, phase creating", "the creation was not cut between user and grant")
	r.expect(secret == nil && !stage.IsSettled(request), "the tenant was told before all was there")
	return half, nil
}

func (s *story) runID(ctx context.Context, sc scene) (string, error) {
	d, err := s.stage.Workflows.DescribeWorkflow(ctx, api.DatabaseWorkflowID(namespace, sc.request), "")
	if err != nil {
		return "", fmt.Errorf("look at the workflow: %w", err)
	}
	return d.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId(), nil
}

func there(yes bool) string {
	if yes {
		return "there"
	}
	return "missing"
}
