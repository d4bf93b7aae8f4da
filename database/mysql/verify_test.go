package mysql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// F39, F41: what a number of looks come to.
func TestVerifier(t *testing.T) {
	at := func(io string, errno int, received, applied string) channelStatus {
		c := channelStatus{gtid: true}
		c.IO, c.IOErrno, c.Received, c.Applied, c.SQL, c.User = io, errno, received, applied, true, "repl"
		return c
	}
	yes := func(received, applied string) channelStatus { return at(api.IOYes, 0, received, applied) }
	noSQL := func(errno int) channelStatus {
		c := yes("0-1-7", "0-1-6")
		c.SQL, c.SQLErrno = false, errno
		return c
	}
	beat := yes("0-1-7", "0-1-7")
	beat.heartbeats = "1"
	stranger := yes("0-1-7", "0-1-7")
	stranger.User = "old"
	type look struct {
		channelStatus
		level bool
		after time.Duration
	}
	const step = 50 * time.Millisecond
	for name, test := range map[string]struct {
		looks []look
		noSQL bool
		want  api.Outcome
	}{
		"nothing to come":            {[]look{{yes("0-1-7", "0-1-7"), true, step}, {yes("0-1-7", "0-1-7"), true, step}}, false, api.OutcomeRepaired},
		"one look is not enough":     {[]look{{yes("0-1-7", "0-1-7"), true, step}}, false, ""},
		"connected, and no sign":     {[]look{{yes("0-1-7", "0-1-7"), false, step}, {yes("0-1-7", "0-1-7"), false, time.Minute}}, false, ""},
		"a heartbeat":                {[]look{{yes("0-1-7", "0-1-7"), false, step}, {beat, false, time.Second}}, false, api.OutcomeRepaired},
		"something came":             {[]look{{yes("0-1-7", "0-1-7"), false, step}, {yes("0-1-8", "0-1-7"), false, step}}, false, ""},
		"and is not refused":         {[]look{{yes("0-1-7", "0-1-7"), false, step}, {yes("0-1-8", "0-1-7"), false, sqlMoment}}, false, api.OutcomeRepaired},
		"the SQL thread refuses it":  {[]look{{yes("0-1-7", "0-1-6"), true, step}, {noSQL(1062), true, step}}, false, api.OutcomeSQLStopped},
		"stopped by somebody":        {[]look{{yes("0-1-7", "0-1-6"), true, step}, {noSQL(0), true, time.Second}}, false, ""},
		"it had been stopped before": {[]look{{noSQL(0), true, step}, {noSQL(0), true, step}}, true, api.OutcomeRepaired},
		"it had failed before":       {[]look{{noSQL(1062), true, step}, {noSQL(1062), true, step}}, true, api.OutcomeRepaired},
		"another user":               {[]look{{stranger, true, step}, {stranger, true, time.Second}}, false, ""},
		"1045 again":                 {[]look{{at(api.IOConnecting, 1045, "", ""), false, step}, {at(api.IOConnecting, 1045, "", ""), false, step}}, false, api.OutcomeRefused},
		"not yet":                    {[]look{{at(api.IOConnecting, 0, "", ""), false, step}, {at(api.IOPreparing, 0, "", ""), false, time.Minute}}, false, ""},
		"2003 may pass":              {[]look{{at(api.IOConnecting, 2003, "", ""), false, step}, {at(api.IOConnecting, 2003, "", ""), false, time.Minute}}, false, ""},
		"1236 does not":              {[]look{{yes("0-1-7", "0-1-7"), false, step}, {at(api.IONo, 1236, "", ""), false, step}, {at(api.IONo, 1236, "", ""), false, step}}, false, api.OutcomeUnverified},
		"a gap begins anew":          {[]look{{yes("0-1-7", "0-1-7"), true, step}, {at(api.IOConnecting, 0, "", ""), false, step}, {yes("0-1-7", "0-1-7"), true, step}}, false, ""},
	} {
		v := verifier{user: "repl", sql: !test.noSQL}
		now := time.Now()
		var got api.Outcome
		for i, l := range test.looks {
			now = now.Add(l.after)
			if got = v.look(l.channelStatus, l.level, now); got != "" {
				require.Len(t, test.looks, i+1, name)
			}
		}
		require.Equal(t, test.want, got, name)
	}
}
