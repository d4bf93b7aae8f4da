package e2e

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

var (
	everyEvent metav1.ListOptions
	createNow  metav1.CreateOptions
)

// trap is a listener that nobody is to call.
type trap struct {
	port int
	n    atomic.Int64
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	listener, port := listen(t, 0)
	x := &trap{port: port}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			x.n.Add(1)
			conn.Close()
		}
	}()
	return x
}

func (x *trap) calls() int64 { return x.n.Load() }

// listen on loopback until the test ends; port 0 is any.
func listen(t *testing.T, port int) (net.Listener, int) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener, listener.Addr().(*net.TCPAddr).Port
}

// deadPort is one that nobody listens on.
func deadPort(t *testing.T) int {
	t.Helper()
	listener, port := listen(t, 0)
	require.NoError(t, listener.Close())
	return port
}

// deadEnd makes a provider whose server is not there.
func (g *ground) deadEnd(t *testing.T, selector, server string) (port int) {
	t.Helper()
	port = deadPort(t)
	require.NoError(t, g.offer(within(t, patience), selector, stage.Connection(server, "localhost", port, platform, server+"-"+platform)))
	return port
}

// relay hands connections on to a server, which sees them come from another
// address of loopback than 127.0.0.1: its rules for hosts leave that one out.
type relay struct {
	server *lab.MariaDB
	dialer net.Dialer
	port   int
	n      atomic.Int64
}

func newRelay(t *testing.T, server *lab.MariaDB, from string) *relay {
	t.Helper()
	return relayAt(t, 0, server, from)
}

// at opens a port that was dead: it leads to a server now.
func at(t *testing.T, port int, server *lab.MariaDB) {
	t.Helper()
	relayAt(t, port, server, "127.0.0.1")
}

func relayAt(t *testing.T, port int, server *lab.MariaDB, from string) *relay {
	t.Helper()
	listener, port := listen(t, port)
	r := &relay{server: server, port: port, dialer: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.n.Add(1)
			go r.hand(conn)
		}
	}()
	return r
}

func (r *relay) hand(conn net.Conn) {
	defer conn.Close()
	server, err := r.dialer.Dial("tcp", r.server.Addr())
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(server, conn); _ = server.(*net.TCPConn).CloseWrite() })
	both.Go(func() { _, _ = io.Copy(conn, server); _ = conn.(*net.TCPConn).CloseWrite() })
	both.Wait()
}

// block hangs up in the middle of handshakes until the server has enough of
// the address.
func (r *relay) block(t *testing.T) {
	t.Helper()
	eventually(t, func(context.Context) error {
		conn, err := r.dialer.Dial("tcp", r.server.Addr())
		if err != nil {
			return err
		}
		defer conn.Close()
		greeting := make([]byte, 512)
		n, err := conn.Read(greeting)
		if err != nil {
			return err
		}
		// An error packet: length, sequence, 0xff, code.
		if n > 7 && greeting[4] == 0xff && binary.LittleEndian.Uint16(greeting[5:]) == 1129 {
			return nil
		}
		return errors.New("the server does not block yet; it does not, where it cannot ask for the name of 127.0.0.9")
	})
}
