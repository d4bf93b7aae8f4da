package stage

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// Gate stands between seedmend and a server. It lets everything through, until
// it is told to keep a statement back: that one never reaches the server, so
// that what came before it is done and what it would do is not. (No lock on the
// server does that: CREATE USER and GRANT wait for the same tables.)
type Gate struct {
	listener net.Listener
	server   string
	streams  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	prefix []byte        // of the statement to keep back
	held   chan struct{} // closed when one is kept back
	change func(payload []byte)
	conns  map[net.Conn]bool
}

// OpenGate opens one before a server, host:port.
func OpenGate(server string) (*Gate, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gate{listener: l, server: server, conns: map[net.Conn]bool{}}
	g.streams.Go(g.accept)
	return g, nil
}

// Port is where the gate listens.
func (g *Gate) Port() int { return g.listener.Addr().(*net.TCPAddr).Port }

// Hold keeps back the statements that begin so. The channel is closed with the first.
func (g *Gate) Hold(prefix string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prefix, g.held = []byte(prefix), make(chan struct{})
	return g.held
}

// Change has f alter the client's packets in place.
func (g *Gate) Change(f func(payload []byte)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.change = f
}

// Release lets every statement through again, and cuts the connections that are
// open: what was kept back is lost with them.
func (g *Gate) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prefix = nil
	for c := range g.conns {
		c.Close()
	}
}

// Close ends the gate.
func (g *Gate) Close() {
	g.listener.Close()
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.Release()
	g.streams.Wait()
}

func (g *Gate) accept() {
	for {
		client, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.streams.Go(func() { g.serve(client) })
	}
}

func (g *Gate) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", g.server)
	if err != nil {
		return
	}
	defer server.Close()
	if !g.keep(client, server) {
		return
	}
	defer g.forget(client, server)
	g.streams.Go(func() {
		_, _ = io.Copy(client, server)
		client.Close()
	})
	g.forward(server, client)
}

func (g *Gate) keep(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.conns[c] = true
	}
	return !g.closed
}

func (g *Gate) forget(conns ...net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		delete(g.conns, c)
	}
}

// forward passes the client's packets on, one by one.
func (g *Gate) forward(server, client net.Conn) {
	for {
		var packet bytes.Buffer
		if _, err := io.CopyN(&packet, client, 4); err != nil {
			return
		}
		length := binary.LittleEndian.Uint32(packet.Bytes()) & 0xffffff
		if _, err := io.CopyN(&packet, client, int64(length)); err != nil {
			return
		}
		if g.holds(packet.Bytes()[4:]) {
			_, _ = io.Copy(io.Discard, client) // until somebody hangs up
			return
		}
		if _, err := server.Write(packet.Bytes()); err != nil {
			return
		}
	}
}

// query is the protocol's command for a statement.
const query = 0x03

func (g *Gate) holds(payload []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.change != nil {
		g.change(payload)
	}
	if g.prefix == nil || len(payload) == 0 || payload[0] != query || !bytes.HasPrefix(payload[1:], g.prefix) {
		return false
	}
	select {
	case <-g.held:
	default:
		close(g.held)
	}
	return true
}
