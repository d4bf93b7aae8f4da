package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// Inspect reads the resource live and the replica's state. It changes nothing.
func (m *Mender) Inspect(ctx context.Context, in api.InspectInput) (out api.Inspection, err error) {
	defer beat(ctx)()
	g, err := m.Groups.Group(ctx, in.Replica.Group)
	if errors.Is(err, k8s.ErrGone) {
		return api.Inspection{Ended: "the resource does not exist any more"}, nil
	}
	if err != nil {
		out.Trouble, err = trouble(err)
		return out, err
	}
	r, found := g.Find(in.Replica)
	if !found {
		return api.Inspection{Ended: "the replica is no longer in the group"}, nil
	}
	out.Target = target(g, r)
	out.Versions.Generation = g.Generation
	out.Off = !g.OptedIn
	if r.Reported != nil && r.Reported.IOErrno == api.AuthErrno {
		out.Since = r.Reported.Since
	}
	err = m.inspect(ctx, in, g, &out)
	switch {
	case err != nil:
		out.Trouble, err = trouble(err)
	case g.Switching:
		out.Trouble = &api.Trouble{Reason: api.PrimarySwitching, Message: "the operator is switching the primary"}
	}
	return out, err
}

func (m *Mender) inspect(ctx context.Context, in api.InspectInput, g api.Group, out *api.Inspection) error {
	if g.Invalid != "" {
		return api.Failf(api.GroupInvalid, "%s", g.Invalid)
	}
	servers, err := m.servers(ctx, out.Target)
	if err != nil {
		return err
	}
	channels, err := m.Engine.Channels(ctx, servers.Replica)
	if err != nil {
		return err
	}
	if out.Channel = channelOf(g, in.Replica.Channel, channels); out.Channel != nil {
		out.Target.Replica.Channel = out.Channel.Name
	} else {
		return api.Failf(api.ChannelMissing, "%s:%d has no replication channel %q", out.Target.Replica.Host, out.Target.Replica.Port, in.Replica.Channel)
	}
	if in.Versions && out.Channel.Stuck() {
		out.Versions = m.versions(ctx, g, servers.Primary)
	}
	if !in.Prove || g.Switching || !out.Channel.Stuck() && out.Channel.IO != api.IONo {
		return nil
	}
	proof, err := m.prove(ctx, out.Target, servers)
	if err != nil {
		return err
	}
	out.Proof, out.Versions.Secret, out.Versions.Account = &proof, proof.Versions.Secret, proof.Versions.Account
	if proof.Refused != nil {
		return nil
	}
	servers.Channel = out.Channel.Name
	backlog, err := m.Engine.Backlog(ctx, servers)
	out.Backlog = &backlog
	return err
}

// channelOf finds a channel, by its name as servers compare them. Operators have
// named theirs, or not, as they came along: of theirs the only one is meant.
func channelOf(g api.Group, name string, all []api.Channel) *api.Channel {
	for _, c := range all {
		if strings.EqualFold(c.Name, name) {
			return &c
		}
	}
	if g.Kind == api.KindMariaDB && len(all) == 1 {
		return &all[0]
	}
	return nil
}

func target(g api.Group, r api.GroupReplica) api.MendTarget {
	return api.MendTarget{
		Group: g.GroupRef, Replica: r, Primary: g.Primary,
		Admin: g.Admin, Replication: g.Replication, TLS: g.TLS,
		Threshold: g.Threshold, DrainTimeout: g.DrainTimeout,
	}
}

// prove reads the replication Secret live and tries it on the primary.
func (m *Mender) prove(ctx context.Context, t api.MendTarget, servers database.ReplicaServer) (out api.Proof, err error) {
	secret, cred, err := m.credentials(ctx, t.Replication, api.SecretUnusable)
	if secret != nil {
		out.Versions.Secret = secret.ResourceVersion
	}
	if unusable(err) {
		out.Refused, _ = trouble(err)
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if out.Versions.Account, err = m.Engine.AccountVersion(ctx, servers.Primary, cred.Username); err != nil {
		return out, err
	}
	out.Trial, out.Detail, err = m.Engine.Try(ctx, servers.Primary, cred)
	if unusable(err) {
		out.Refused, err = trouble(err)
	}
	if err == nil && out.Trial == api.TrialRefused {
		out.Refused = &api.Trouble{Reason: api.SecretMismatch, Message: fmt.Sprintf("primary %s:%d refuses user %q with the password in Secret %q, key %q: %s",
			t.Primary.Host, t.Primary.Port, cred.Username, t.Replication.Name, t.Replication.PasswordKey, out.Detail)}
	}
	return out, err
}

func unusable(err error) bool {
	var f *api.Failure
	return errors.As(err, &f) && f.Reason == api.SecretUnusable
}
