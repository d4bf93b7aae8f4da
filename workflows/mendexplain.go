package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// ExplainReplica says what a repair would do now. Nothing is changed.
func ExplainReplica(ctx workflow.Context, in api.MendInput) (out api.ReplicaExplanation, err error) {
	look, err := mendStep(ctx, api.MendSteps.Inspect, api.InspectInput{Replica: in.Replica}, "Look at the replica", short)
	if err != nil {
		return out, err
	}
	out.Channel = look.Channel
	now := workflow.Now(ctx)
	state := api.MendState{Skip: in.Manual, Manual: in.Manual}
	state.Since = since(state, look, now)
	move := Next(state, look, now)
	if move.Kind != MoveMend {
		out.Reason, out.Message = move.Reason, move.Message
		return out, nil
	}
	out.Until = state.Since.Add(look.Target.Threshold)
	proof, err := mendStep(ctx, api.MendSteps.Prove, api.ProveInput{Target: look.Target}, "Prove the Secret on the primary", short)
	if err != nil {
		return out, err
	}
	out.Proof = &proof
	if t := proof.Trouble; t != nil {
		out.Reason, out.Message = t.Reason, t.Message
		return out, nil
	}
	target := look.Target
	target.DrainTimeout = 0 // an explanation waits for nothing
	security, err := mendStep(ctx, api.MendSteps.Secure, api.SecureInput{Target: target}, "See what is not applied yet", short)
	if err != nil {
		return out, err
	}
	out.Backlog = &security.Backlog
	if t := security.Trouble; t != nil {
		out.Reason, out.Message = t.Reason, t.Message
		return out, nil
	}
	out.Would = true
	out.Message = fmt.Sprintf("would change the credentials of user %q: STOP, CHANGE with user and password only, START", look.Channel.User)
	return out, nil
}
