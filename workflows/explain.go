package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// ExplainSeed answers what ReconcileDatabase would decide now. It changes
// nothing, neither in the cluster nor on a server.
func ExplainSeed(ctx workflow.Context, in api.ExplainInput) (api.Explanation, error) {
	out := api.Explanation{}
	adm, err := local[api.Admission](ctx, stepName(api.SeedSteps.Admit), api.AdmitInput{Request: in.Request}, "Check request, seed and provider")
	if err != nil {
		return explained(out, err)
	}
	if adm.SeedPending {
		return explained(out, api.Failf(api.SeedSecretNotFound, "Secret %q does not exist", in.Request.Seed.Name))
	}
	t := adm.Target
	out.Connection, out.Database, out.Username = &t.Connection, t.Database, t.Username

	facts, err := local[api.Facts](ctx, stepName(api.SeedSteps.Probe), api.StepInput{Request: in.Request, Target: t}, "Probe "+server(t))
	if err != nil {
		return explained(out, err)
	}
	out.Facts = &facts
	owner := api.Owner{UID: in.Request.UID, Namespace: in.Request.Namespace, Name: in.Request.Name, Cluster: facts.Cluster}
	verdict, fail := Decide(facts, owner, t)
	if fail != nil {
		return explained(out, fail)
	}
	out.Verdict, out.Message = verdict, meaning(verdict, t)
	return out, nil
}

// explained turns a failure of the table into an answer; anything else stays an error.
func explained(out api.Explanation, err error) (api.Explanation, error) {
	f, ok := api.FromTemporal(err)
	if !ok {
		return out, err
	}
	out.Reason, out.Message = f.Reason, f.Message
	return out, nil
}

func meaning(v api.Verdict, t api.Target) string {
	switch v {
	case api.VerdictAdopt:
		return "database and user exist and work together; both would be taken as they are"
	case api.VerdictCreate:
		return "neither database nor user exists; both would be created as the seed says"
	case api.VerdictResume:
		return "a creation of this request was cut; it would be finished"
	case api.VerdictKeep, api.VerdictNothing:
	}
	return "database " + t.Database + " is this request's already and works"
}
