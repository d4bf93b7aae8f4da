package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/tests/lab"
)

// F36: a connection whose name has a quote in it, beside a healthy one, on a
// server where backslashes are ordinary characters.
func TestNamedChannels(t *testing.T) {
	t.Parallel()
	const name = `it's a "back\slash"`
	p := newPair(t, lab.ReplicationOptions{}, "--sql-mode=NO_BACKSLASH_ESCAPES")
	p.onReplica("STOP SLAVE", "RESET SLAVE ALL")
	other := startPrimary(t, "--gtid-domain-id=7")
	require.NoError(t, p.replica.Follow(t.Context(), other, lab.ReplicationOptions{Channel: "healthy", User: "elsewhere"}))
	p.onReplica("CHANGE MASTER " + literal(name, true) + " TO MASTER_HOST='127.0.0.1', MASTER_PORT=" + p.portText() +
		", MASTER_USER='repl', MASTER_PASSWORD='wrong', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=4")
	p.onReplica("START SLAVE " + literal(name, true))
	p.channel, p.in.Channel = name, name
	dumps := func() string {
		var id string
		require.NoError(t, other.DB().QueryRowContext(t.Context(), "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'elsewhere'").Scan(&id))
		return id
	}
	before := dumps()
	p.rotate(`3s'd"P\w;--`)
	m := p.mended()
	require.Equal(t, name, m.Channel.Name)
	require.Equal(t, before, dumps(), "the healthy channel's connection stands")
	require.Equal(t, "4", p.status()["Slave_heartbeat_period"])

	all, err := p.engine.Channels(t.Context(), p.in.Replica)
	require.NoError(t, err)
	require.Len(t, all, 2, "no unnamed connection")
	for _, c := range all {
		require.Equal(t, api.IOYes, c.IO)
		require.True(t, c.SQL && !c.Stuck())
		require.NotZero(t, c.PrimaryID)
		require.NotEmpty(t, c.Received)
	}
	none, err := p.engine.Channels(t.Context(), p.admin)
	require.NoError(t, err)
	require.Empty(t, none)
}

func (p *pair) portText() string { return p.value(p.MariaDB, "SELECT @@port") }

func TestChannelsIsOneStatement(t *testing.T) {
	r := newRig(t, "trouble")
	_, err := r.engine.Channels(t.Context(), r.admin)
	require.NoError(t, err)
	all, logins := r.statements(func() {
		_, err := r.engine.Channels(t.Context(), r.admin)
		require.NoError(t, err)
	})
	require.Zero(t, logins)
	shown := 0
	for _, s := range all {
		if s == "Query SHOW ALL SLAVES STATUS" {
			shown++
		}
	}
	require.Equal(t, 1, shown)
	r.admin.Port = 1
	_, err = r.engine.Channels(t.Context(), r.admin)
	want(t, api.ReplicaUnreachable, err)
}

// A server's own TLS policy stands above the engine's, and has a pool of its own.
func TestTLSOfAServer(t *testing.T) {
	r := newRig(t, "tls")
	r.setUp()
	ctx := t.Context()
	encrypted := func() bool {
		f, err := r.engine.Probe(ctx, r.admin, r.seed)
		require.NoError(t, err)
		return f.TLS
	}
	require.True(t, encrypted())
	r.admin.TLS = database.TLS{Mode: "disabled"}
	require.False(t, encrypted())
	r.admin.TLS = database.TLS{Mode: "verify", Key: "system"}
	_, err := r.engine.Channels(ctx, r.admin)
	want(t, api.ReplicaUnreachable, err)
	r.admin.TLS = database.TLS{Mode: "verify", Key: "lab", RootCAs: r.TLSConfig().RootCAs}
	require.True(t, encrypted())
	require.Len(t, r.engine.pools.byKey, 3, "the one that failed is not kept")
	trial, _, err := r.engine.Try(ctx, r.admin, r.seed.Credentials)
	require.NoError(t, err)
	require.Equal(t, api.TrialProven, trial)
	r.engine.Evict(r.admin.Address, r.admin.Username)
	require.Empty(t, r.engine.pools.byKey)
}
