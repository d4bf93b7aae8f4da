package activities

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seedmend/seedmend/api"
)

// judged is what an answer says of one replica.
func judged(g api.Group, r api.GroupReplica, a answer) api.ReplicaStatus {
	e := api.ReplicaStatus{Name: r.Name, Channel: r.Channel, Phase: api.PhaseUnknown}
	if g.Invalid != "" {
		e.Reason, e.Message = api.GroupInvalid, g.Invalid
		return e
	}
	if a.err != nil {
		e.Reason, e.Message = api.ReplicaUnreachable, "no answer in time"
		var f *api.Failure
		if errors.As(a.err, &f) {
			e.Reason, e.Message = f.Reason, f.Message
		}
		return e
	}
	if c := channelOf(g, r.Channel, a.channels); c != nil {
		return described(g, e, *c)
	}
	e.Reason, e.Message = api.ChannelMissing, fmt.Sprintf("%s:%d answers with no status for channel %q", r.Host, r.Port, r.Channel)
	return e
}

func described(g api.Group, e api.ReplicaStatus, c api.Channel) api.ReplicaStatus {
	e.IOErrno, e.Phase = c.IOErrno, api.PhaseHandsOff
	switch {
	case c.Stuck() && !g.OptedIn:
		e.Phase, e.Reason, e.Message = api.PhaseStuck, api.RepairOff, "stuck on 1045; the resource does not ask for repairs"
	case c.Stuck():
		e.Phase, e.Reason, e.Message = api.PhaseStuck, api.ReasonThreshold, "stuck on 1045"
	case c.IOErrno != 0:
		e.Reason, e.Message = api.IOError, fmt.Sprintf("the IO thread reports error %d", c.IOErrno)
	case c.SQLErrno != 0:
		e.Reason, e.Message = api.SQLThreadStopped, fmt.Sprintf("the SQL thread has stopped (%d)", c.SQLErrno)
	case c.IO == api.IONo:
		e.Reason, e.Message = api.ReplicationStopped, "the IO thread is stopped, and reports no error"
	case !c.SQL:
		e.Reason, e.Message = api.ReplicationStopped, "the SQL thread is stopped, and reports no error"
	case c.IO == api.IOYes:
		e.Phase, e.Reason, e.Message = api.PhaseHealthy, api.ReasonReplicating, "both threads run"
	default:
		e.Phase, e.Reason, e.Message = api.PhaseUnknown, api.NotVerified, "the IO thread is connecting"
	}
	return e
}

// merged is the entry that a sweep writes. While a replica is stuck its run
// knows better what is going on.
func merged(now, found api.ReplicaStatus, at time.Time) api.ReplicaStatus {
	out := found
	out.LastRepair, out.WorkflowID = now.LastRepair, now.WorkflowID
	if found.IOErrno != api.AuthErrno {
		if found.Phase == api.PhaseUnknown && now.IOErrno == api.AuthErrno {
			// Not seen for the moment: what is known of the error stays.
			out.IOErrno, out.Since = now.IOErrno, now.Since
		}
		return out
	}
	if now.IOErrno != api.AuthErrno || now.Since == nil {
		out.Since = &at
		return out
	}
	out.Since = now.Since
	if found.Reason != api.RepairOff && now.Phase != api.PhaseUnknown && now.Reason != api.RepairOff {
		out.Phase, out.Reason, out.Message = now.Phase, now.Reason, now.Message
	}
	return out
}

// sighting is how a replica was last seen.
type sighting struct {
	reason   api.Reason
	errno    int
	stopped  bool // the IO thread is
	sql      bool // the SQL thread runs
	versions api.Versions
	again    bool // the next sweep asks for its run, whatever it finds
}

// sightings is what this process has seen. It saves signals only: a process that
// has seen nothing wakes each run once.
type sightings struct {
	mu *sync.Mutex
	of map[api.ReplicaRef]sighting
}

func newSightings() sightings {
	return sightings{mu: &sync.Mutex{}, of: map[api.ReplicaRef]sighting{}}
}

func (s sightings) get(r api.ReplicaRef) (sighting, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.of[r]
	return seen, ok
}

func (s sightings) put(r api.ReplicaRef, seen sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[r] = seen
}

// stuck tells whether a replica of the group was stuck when last seen.
func (s sightings) stuck(g api.Group) bool {
	for _, r := range g.Replicas {
		if seen, ok := s.get(g.Ref(r)); ok && seen.errno == api.AuthErrno {
			return true
		}
	}
	return false
}

// keep forgets the replicas of groups that are gone.
func (s sightings) keep(groups []api.Group) {
	here := map[api.ReplicaRef]bool{}
	for _, g := range groups {
		for _, r := range g.Replicas {
			here[g.Ref(r)] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.of {
		if !here[r] {
			delete(s.of, r)
		}
	}
}
