package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// seed is the whole decision, in the order of the design: nothing is contacted
// before its turn, and the seed is deleted last.
func (r *run) seed() (api.ReconcileResult, error) {
	r.phase(api.PhaseAdmitting)
	adm, err := r.admit()
	if err != nil {
		return api.ReconcileResult{}, err
	}
	if adm.Ended != "" {
		return r.ended(adm.Ended), nil
	}
	in := api.StepInput{Request: r.request, Target: adm.Target}
	r.provider = in.Target.Connection.Provider

	r.phase(api.PhaseProbing)
	facts, err := step(r, api.SeedSteps.Probe, in, "Probe "+server(in.Target))
	if err != nil {
		return api.ReconcileResult{}, err
	}
	r.note("Probe", findings(facts))
	verdict, fail := Decide(facts, r.owner(facts), in.Target)
	if fail != nil {
		return api.ReconcileResult{}, fail
	}
	r.progress.Verdict = verdict
	r.note("Verdict", string(verdict))

	if err := r.take(verdict, in, facts); err != nil {
		return api.ReconcileResult{}, err
	}
	return r.deliver(verdict, in, facts)
}

// take makes the database ours, if it is not yet.
func (r *run) take(v api.Verdict, in api.StepInput, facts api.Facts) error {
	var done api.Done
	var err error
	switch v {
	case api.VerdictAdopt:
		r.phase(api.PhaseAdopting)
		adopt := api.AdoptInput{StepInput: in, AccountHost: facts.AccountHost}
		done, err = step(r, api.SeedSteps.Adopt, adopt, fmt.Sprintf("Adopt %q", in.Target.Database))
	case api.VerdictCreate, api.VerdictResume:
		r.phase(api.PhaseCreating)
		done, err = step(r, api.SeedSteps.Create, in, fmt.Sprintf("%s %q", v, in.Target.Database))
	case api.VerdictKeep, api.VerdictNothing:
		return nil
	}
	if err == nil {
		r.note(string(v), done.Note)
	}
	return err
}

// deliver hands the credentials to the tenant and tells that all is ready.
func (r *run) deliver(v api.Verdict, in api.StepInput, facts api.Facts) (api.ReconcileResult, error) {
	r.phase(api.PhasePublishing)
	published, err := step(r, api.SeedSteps.Publish, api.PublishInput{StepInput: in}, "Publish Secret and Service")
	if err != nil {
		return api.ReconcileResult{}, err
	}
	if published.Gone {
		return r.ended("the request was deleted"), nil
	}
	r.note("Publish", "Secret "+in.Request.Name+", Service "+in.Request.ServiceName+" ("+published.ServiceStyle+")")

	reason, message := outcome(v, in.Target, facts.Claim)
	finish := api.FinishInput{StepInput: in, Reason: reason, Message: message}
	done, err := step(r, api.SeedSteps.Finish, finish, "Status: Ready")
	if err != nil {
		return api.ReconcileResult{}, err
	}
	if done.Gone {
		return r.ended("the request was deleted"), nil
	}
	r.phase(api.PhaseReady)
	r.progress.Reason, r.progress.Message = reason, message
	r.note("Finish", done.Note)
	r.upsert(reason)
	return api.ReconcileResult{
		Verdict:    v,
		Connection: in.Target.Connection.ConnectionRef,
		Database:   in.Target.Database,
		Username:   in.Target.Username,
		Message:    message,
	}, nil
}

// admit runs the first step until the seed is there, or the wait is over.
func (r *run) admit() (api.Admission, error) {
	told := false
	until := workflow.Now(r.ctx).Add(r.tuning.SeedWait)
	for try := 0; ; try++ {
		adm, err := step(r, api.SeedSteps.Admit, api.AdmitInput{Request: r.request, Recheck: r.recheck}, "Check request, seed and provider")
		if err != nil {
			return adm, err
		}
		r.recheck = false
		if adm.Request != nil {
			r.request = *adm.Request
		}
		if !adm.SeedPending {
			r.note("Admit", admitted(adm))
			return adm, nil
		}
		left := until.Sub(workflow.Now(r.ctx))
		if left <= 0 {
			return adm, api.Failf(api.SeedSecretNotFound, "Secret %q did not appear within %s", r.request.Seed.Name, r.tuning.SeedWait)
		}
		if !told {
			told = true
			if err := r.tellWaiting(until); err != nil {
				return adm, err
			}
		}
		if err := r.pause(min(left, seedPauses[min(try, len(seedPauses)-1)]), "Wait for the seed Secret"); err != nil {
			return adm, err
		}
	}
}

func (r *run) tellWaiting(until time.Time) error {
	r.phase(api.PhaseWaiting)
	message := fmt.Sprintf("waiting for the seed Secret %q until %s", r.request.Seed.Name, until.UTC().Format(time.RFC3339))
	r.note("Admit", message)
	_, err := step(r, api.SeedSteps.Report, api.ReportInput{Request: r.request, Reason: api.ReasonWaitingForSeed, Message: message}, "Status: waiting for the seed")
	return err
}

// owner is who this run acts for. The cluster is the one that the probe saw, as
// a workflow has no cluster of its own.
func (r *run) owner(f api.Facts) api.Owner {
	return api.Owner{UID: r.request.UID, Namespace: r.request.Namespace, Name: r.request.Name, Cluster: f.Cluster}
}

func outcome(v api.Verdict, t api.Target, claim *api.Claim) (api.Reason, string) {
	where := fmt.Sprintf("database %q on %s (provider %s, connection %s)", t.Database, server(t), t.Connection.Provider, t.Connection.Connection)
	created := claim != nil && claim.Origin == api.OriginCreated
	switch {
	case v == api.VerdictAdopt:
		return api.ReasonAdopted, "adopted " + where + "; nothing was created or altered"
	case v == api.VerdictKeep && !created:
		return api.ReasonAdopted, "verified " + where + ", which had been adopted"
	case v == api.VerdictKeep:
		return api.ReasonCreated, "verified " + where + ", which had been created"
	default:
		return api.ReasonCreated, "created " + where + " as the seed says"
	}
}
