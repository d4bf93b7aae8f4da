package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// ExplainReplica says what a repair would do now. Nothing is changed.
func ExplainReplica(ctx workflow.Context, in api.MendInput) (out api.ReplicaExplanation, err error) {
	inspect := api.InspectInput{Replica: in.Replica, Prove: true}
	look, err := mendStep(ctx, api.MendSteps.Inspect, inspect, "Look at the replica, prove the Secret on the primary, see what is not applied", short)
	if err != nil {
		return out, err
	}
	out.Channel, out.Proof, out.Backlog = look.Channel, look.Proof, look.Backlog
	now := workflow.Now(ctx)
	state := api.MendState{Skip: in.Manual, Manual: in.Manual}
	state.Since = since(state, look, now)
	move := Next(state, look, now)
	switch {
	case move.Kind != MoveMend:
		out.Reason, out.Message = move.Reason, move.Message
		return out, nil
	case look.Proof.Refused != nil:
		out.Reason, out.Message = look.Proof.Refused.Reason, look.Proof.Refused.Message
		return out, nil
	case !look.Backlog.Safe() && !look.Backlog.Draining:
		out.Reason, out.Message = api.RelayLogNotApplied, look.Backlog.Detail
		return out, nil
	}
	out.Until = state.Since.Add(look.Target.Threshold)
	out.Would = true
	out.Message = fmt.Sprintf("would change the credentials of user %q: STOP, CHANGE with user and password only, START", look.Channel.User)
	if !look.Backlog.Safe() {
		out.Message += "; first it would wait until all that was fetched is applied"
	}
	return out, nil
}
