package e2e

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// calm is a ground where one test at a time is alone: it starts seedmend with
// flags of its own, restarts it, and sees that nothing happens.
var calm struct {
	sync.Mutex
	once   sync.Once
	ground *ground
	err    error
}

// calmGround gives the calm ground to a test until it ends, without a seedmend.
func calmGround(t *testing.T) *ground {
	t.Helper()
	calm.once.Do(func() {
		ctx := within(t, 2*patience)
		calm.ground, calm.err = newGround(ctx, "calm", map[string]lab.MariaDBOptions{
			"plain": {}, "tls": {TLS: true, RequireTLS: true},
		})
		if calm.err == nil {
			calm.err = calm.ground.offer(ctx, "development", via(calm.ground.Servers["plain"], platform))
		}
	})
	require.NoError(t, calm.err)
	calm.Lock()
	t.Cleanup(func() {
		if p := calm.ground.process; p != nil {
			if t.Failed() {
				t.Log(p.Log())
			}
			require.NoError(t, p.Stop())
			calm.ground.process = nil
		}
		calm.Unlock()
	})
	return calm.ground
}

func closeCalm(ctx context.Context) error {
	if calm.ground == nil {
		return nil
	}
	return calm.ground.close(ctx)
}

// deadPort is one that nobody listens on.
func deadPort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(0)))
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// deadEnd makes a provider whose server is not there.
func (g *ground) deadEnd(t *testing.T, selector, server string) (port int) {
	t.Helper()
	port = deadPort(t)
	require.NoError(t, g.offer(within(t, patience), selector, stage.Connection(server, "localhost", port, platform, server+"-"+platform)))
	return port
}
