package activities

import (
	"context"
	"slices"
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
	s.waking.SetLimit(sweepWidth)
	for _, g := range groups {
		if swept(g, in, m.seen.stuck(g)) {
			s.groups = append(s.groups, g)
		}
	}
	s.ask(ctx)
	for _, g := range s.groups {
		s.judge(ctx, g)
	}
	_ = s.waking.Wait()
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
	waking  errgroup.Group
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
		switch {
		case entry.Reason == api.ReplicaUnreachable:
			s.result.Unreachable++
		case entry.IOErrno == api.AuthErrno:
			s.result.Stuck++
		}
		now := sighting{reason: entry.Reason, errno: entry.IOErrno}
		if c := channelOf(g, r.Channel, a.channels); c != nil {
			now.stopped, now.sql = c.IO == api.IONo, c.SQL
		}
		s.waking.Go(func() error { s.wake(ctx, g, r, entry, now, versions); return nil })
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
