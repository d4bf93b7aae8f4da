package activities

import (
	"context"
	"time"

	"github.com/seedmend/seedmend/api"
)

// wake starts or wakes a run where something is new.
func (s *sweep) wake(ctx context.Context, g api.Group, r api.GroupReplica, e api.ReplicaStatus, now sighting, versions func() api.Versions) {
	look := look{ref: g.Ref(r), replica: r, entry: e, stopped: now.stopped}
	look.stuck = e.IOErrno == api.AuthErrno && g.OptedIn && g.Invalid == ""
	// While it waits for its threshold, nothing hangs on the Secret.
	if look.stuck && (r.Reported == nil || r.Reported.Reason != api.ReasonThreshold) {
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
		s.mu.Lock()
		s.result.Woken++
		s.mu.Unlock()
	}
	now.again = now.stopped && running
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
		return true, running, s.Runs.Look(ctx, in, l.versions, "the replica is stuck on 1045; its SQL thread, the Secret or the account may have changed")
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
