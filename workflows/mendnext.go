package workflows

import (
	"fmt"
	"time"

	"github.com/seedmend/seedmend/api"
)

// MoveKind is what a look calls for.
type MoveKind string

// Kinds of moves.
const (
	MoveEnd    MoveKind = "end"    // quietly
	MoveWait   MoveKind = "wait"   // until a time that is known
	MoveLeave  MoveKind = "leave"  // for a pause that grows
	MoveResume MoveKind = "resume" // start what we have stopped
	MoveMend   MoveKind = "mend"
)

// Move is what a look calls for, and why.
type Move struct {
	Kind    MoveKind
	Phase   string
	Reason  api.Reason
	Message string
	Until   time.Time
}

// Next decides from a look and what the run knows. It is pure.
func Next(s api.MendState, look api.Inspection, now time.Time) Move {
	c := look.Channel
	ended := look.Ended
	if look.Off && !s.Manual {
		ended = "the resource does not ask for repairs"
	}
	switch {
	case ended != "" && c != nil && s.Owed != api.ThreadsNone && c.IO == api.IONo:
		return Move{Kind: MoveResume}
	case ended != "":
		return Move{Kind: MoveEnd, Phase: api.PhaseStuck, Reason: api.RepairOff, Message: ended}
	case look.Trouble != nil:
		return Move{Kind: MoveLeave, Reason: look.Trouble.Reason, Message: look.Trouble.Message}
	case !c.Stuck():
		return notStuck(s, *c)
	}
	return stuck(s, look, now)
}

func notStuck(s api.MendState, c api.Channel) Move {
	switch {
	case s.Owed != api.ThreadsNone && c.IO == api.IONo:
		return Move{Kind: MoveMend}
	case s.Owed != api.ThreadsNone && c.IO == api.IOYes && c.IOErrno == 0:
		return Move{Kind: MoveEnd, Phase: api.PhaseRepaired, Reason: api.ReasonRepaired, Message: "a repair that was cut had sent the statements; the IO thread runs"}
	case c.IOErrno != 0:
		return Move{Kind: MoveEnd, Phase: api.PhaseHandsOff, Reason: api.IOError, Message: fmt.Sprintf("the IO thread reports error %d, which is not about a password", c.IOErrno)}
	case c.IO == api.IONo:
		return Move{Kind: MoveEnd, Phase: api.PhaseHandsOff, Reason: api.ReplicationStopped, Message: "replication has been stopped by hand"}
	case c.IO == api.IOYes && !c.SQL && c.SQLErrno != 0:
		return Move{Kind: MoveEnd, Phase: api.PhaseHandsOff, Reason: api.SQLThreadStopped, Message: fmt.Sprintf("the IO thread runs; the SQL thread has stopped (%d)", c.SQLErrno)}
	case c.IO == api.IOYes && !c.SQL:
		return Move{Kind: MoveEnd, Phase: api.PhaseHandsOff, Reason: api.ReplicationStopped, Message: "the IO thread runs; the SQL thread is stopped, and reports no error"}
	case c.IO == api.IOYes:
		return Move{Kind: MoveEnd, Phase: api.PhaseHealthy, Reason: api.ReasonReplicating, Message: "both threads run; nothing was sent"}
	}
	// Connecting is neither running nor failed.
	return Move{Kind: MoveLeave, Reason: api.NotVerified, Message: "the IO thread is connecting, and has reported no error yet"}
}

func stuck(s api.MendState, look api.Inspection, now time.Time) Move {
	threshold := look.Target.Threshold
	if s.Threshold != nil {
		threshold = *s.Threshold
	}
	until := s.Since.Add(threshold)
	switch {
	case s.Skip || s.Owed != api.ThreadsNone:
		return Move{Kind: MoveMend}
	case now.Before(until):
		return Move{Kind: MoveWait, Phase: api.PhaseThreshold, Reason: api.ReasonThreshold, Until: until,
			Message: fmt.Sprintf("stuck on 1045 since %s; mended at %s if it lasts", clock(s.Since), clock(until))}
	case now.Before(s.NotBefore) && look.Versions == s.Versions && look.Channel.SQL == s.SQL:
		return Move{Kind: MoveWait, Phase: api.PhasePaused, Reason: s.Reason, Until: s.NotBefore,
			Message: fmt.Sprintf("%s; the next look is at %s, or at once when Secret, account or resource change", s.Reason, clock(s.NotBefore))}
	}
	return Move{Kind: MoveMend}
}

// since is when the error began: the latest that anybody knows of, since an
// error that cleared meanwhile begins anew.
func since(s api.MendState, look api.Inspection, now time.Time) time.Time {
	switch {
	case look.Channel == nil:
		return s.Since
	case !look.Channel.Stuck() && s.Owed == api.ThreadsNone:
		return time.Time{}
	case look.Since.After(s.Since) && !look.Since.After(now):
		return look.Since
	case s.Since.IsZero() || s.Since.After(now):
		return now
	}
	return s.Since
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// pause is how long a replica is left as it is: it doubles with every look that
// finds the same reason; after a repair that failed it starts from the
// threshold doubled.
func pause(s api.MendState, threshold time.Duration) time.Duration {
	if s.Reason == api.StillRefused || s.Reason == api.NotVerified && s.Failures > 0 {
		return doubled(max(threshold, api.PauseFirst), s.Failures, api.CoolDownMaximum)
	}
	return doubled(api.PauseFirst, s.Pauses-1, api.PauseMaximum)
}

func doubled(base time.Duration, times int, most time.Duration) time.Duration {
	for ; times > 0 && base < most; times-- {
		base *= 2
	}
	return min(base, most)
}
