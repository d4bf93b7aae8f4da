package activities

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// A sweep asks so many servers at once, and waits so long for each: three that
// hang hold up three of sixteen for 5 s.
const (
	sweepWidth = 16
	sweepWait  = 5 * time.Second
)

// Sweep looks at every replica with one status query a server, keeps the status
// of ReplicationGroups, and starts or wakes the runs of replicas that are stuck.
func (m *Mender) Sweep(ctx context.Context, in api.SweepInput) (api.SweepResult, error) {
	defer beat(ctx)()
	groups := m.Known()
	m.seen.keep(groups)
	s := &sweep{Mender: m, answers: map[serverKey]answer{}}
	for _, g := range groups {
		if swept(g, in, m.seen.stuck(g)) {
			s.groups = append(s.groups, g)
		}
	}
	s.ask(ctx)
	for _, g := range s.groups {
		s.judge(ctx, g)
	}
	return s.result, ctx.Err()
}

// swept tells whether a sweep looks at a group. The operator's informer tells of
// errors in its own resources, so that healthy ones are looked at seldom.
func swept(g api.Group, in api.SweepInput, stuck bool) bool {
	if g.Kind == api.KindReplicationGroup {
		return !in.Operated
	}
	return g.OptedIn && (in.Operated || stuck || slices.ContainsFunc(g.Replicas, func(r api.GroupReplica) bool {
		return r.Reported != nil && r.Reported.IOErrno == api.AuthErrno
	}))
}

// sweep is one look at all groups.
type sweep struct {
	*Mender
	groups []api.Group
	mu     sync.Mutex
	// answers holds one a server, however many channels it has.
	answers map[serverKey]answer
	result  api.SweepResult
}

type serverKey struct {
	group api.GroupRef
	api.Endpoint
}

type answer struct {
	channels []api.Channel
	err      error
}

// channel is the one of a replica.
func (a answer) channel(r api.GroupReplica) (api.Channel, bool) {
	for _, c := range a.channels {
		if strings.EqualFold(c.Name, r.Channel) {
			return c, true
		}
	}
	return api.Channel{}, false
}

// ask reads the status of every server.
func (s *sweep) ask(ctx context.Context) {
	var asking errgroup.Group
	asking.SetLimit(sweepWidth)
	for _, g := range s.groups {
		if g.Invalid != "" {
			continue
		}
		var access access
		var denied error
		prepare := sync.OnceFunc(func() { access, denied = s.access(ctx, g.Admin, g.TLS) })
		asked := map[api.Endpoint]bool{}
		for _, r := range g.Replicas {
			if asked[r.Endpoint] {
				continue
			}
			asked[r.Endpoint] = true
			asking.Go(func() error {
				prepare()
				a := answer{err: denied}
				if denied == nil {
					a = s.channels(ctx, access.at(r.Endpoint))
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				s.answers[serverKey{g.GroupRef, r.Endpoint}] = a
				return nil
			})
		}
	}
	_ = asking.Wait()
}

func (s *sweep) channels(ctx context.Context, server database.Admin) answer {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	channels, err := s.Engine.Channels(ctx, server)
	return answer{channels, err}
}

// judge says what a group's replicas are, and wakes what has to be woken.
func (s *sweep) judge(ctx context.Context, g api.Group) {
	versions := sync.OnceValue(func() api.Versions {
		a, err := s.access(ctx, g.Admin, g.TLS)
		if err != nil {
			return api.Versions{Generation: g.Generation}
		}
		return s.versions(ctx, g, a.at(g.Primary))
	})
	found := make([]api.ReplicaStatus, 0, len(g.Replicas))
	for _, r := range g.Replicas {
		s.result.Replicas++
		a := s.answers[serverKey{g.GroupRef, r.Endpoint}]
		entry := judged(g, r, a)
		channel, _ := a.channel(r)
		switch {
		case entry.Reason == api.ReplicaUnreachable:
			s.result.Unreachable++
		case entry.IOErrno == api.AuthErrno:
			s.result.Stuck++
		}
		s.wake(ctx, g, r, entry, channel.IO == api.IONo, versions)
		found = append(found, entry)
	}
	if g.Kind == api.KindReplicationGroup {
		err := s.Groups.UpdateReplicas(ctx, g, func(now []api.ReplicaStatus) []api.ReplicaStatus {
			for _, e := range found {
				now = replaced(now, merged(entryOf(now, api.ReplicaRef{Replica: e.Name, Channel: e.Channel}), e, time.Now()))
			}
			return now
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("status not written", "group", g.Key(), "error", err)
		}
	}
}

// wake starts or wakes a run where something is new.
func (s *sweep) wake(ctx context.Context, g api.Group, r api.GroupReplica, e api.ReplicaStatus, stopped bool, versions func() api.Versions) {
	look := look{ref: g.Ref(r), replica: r, entry: e, stopped: stopped}
	look.stuck = e.IOErrno == api.AuthErrno && g.OptedIn && g.Invalid == ""
	now := sighting{reason: e.Reason, errno: e.IOErrno, stopped: stopped}
	if look.stuck {
		now.versions = versions()
	}
	before, known := s.seen.get(look.ref)
	now.again = before.again
	look.changed = !known || before != now
	if !look.changed && !before.again {
		return
	}
	look.versions, look.was = now.versions, known && before.errno == api.AuthErrno
	woken, running, err := s.rouse(ctx, look)
	if err != nil {
		s.Log.Warn("cannot start or wake the repair", "replica", look.ref.Key(), "error", err)
		return // not remembered, so that the next sweep tries again
	}
	if woken {
		s.result.Woken++
	}
	now.again = stopped && running
	s.seen.put(look.ref, now)
}

// look is what a sweep found of one replica.
type look struct {
	ref      api.ReplicaRef
	replica  api.GroupReplica
	entry    api.ReplicaStatus
	versions api.Versions
	stuck    bool // and to be mended
	stopped  bool // its IO thread is
	changed  bool // since the last sweep
	was      bool // stuck then
}

// rouse answers whether it started or woke a run, and whether one is under way
// that may have stopped the replica. That one may yet be cut, and nothing on the
// replica would change then.
func (s *sweep) rouse(ctx context.Context, l look) (woken, running bool, err error) {
	in := api.MendInput{Replica: l.ref}
	if l.stuck {
		in.Since = sinceOf(l.ref, l.replica)
	}
	if l.stopped {
		if in.Owed, running, err = s.Runs.Owed(ctx, l.ref); err != nil {
			return false, false, err
		}
	}
	switch {
	case in.Owed != api.ThreadsNone:
		return true, false, s.Runs.Look(ctx, in, l.versions, "a repair that was cut has left the replica stopped")
	case !l.changed:
		return false, running, nil
	case l.stuck:
		return true, running, s.Runs.Look(ctx, in, l.versions, "the replica is stuck on 1045, or its Secret or account has changed")
	case l.was && l.entry.Phase != api.PhaseUnknown:
		return true, running, s.Runs.Wake(ctx, l.ref, "the replica's state has changed")
	}
	return false, running, nil
}

// sinceOf is when the error began, as far as anybody knows.
func sinceOf(ref api.ReplicaRef, r api.GroupReplica) time.Time {
	if r.Reported == nil || r.Reported.IOErrno != api.AuthErrno || r.Reported.Since.IsZero() {
		return time.Now()
	}
	if ref.Group.Kind == api.KindReplicationGroup {
		// Our own status has whole seconds, cut off; never mend too early.
		return r.Reported.Since.Add(time.Second)
	}
	return r.Reported.Since
}
