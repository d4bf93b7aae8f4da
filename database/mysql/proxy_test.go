package mysql

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/tests/lab"
)

// proxy stands between the engine and a server without TLS. It counts logins and
// statements as events, and can cut one.
type proxy struct {
	listener net.Listener
	target   string
	strip    string // taken off the end of login names

	mu     sync.Mutex
	events []string
	cutAt  int // 1 is the first; 0 cuts nothing
	how    cut
	onCut  func()
	wasCut bool
	hook   func(what string)
}

type cut int

const (
	cutBefore cut = iota // the server never gets it
	cutAfter             // the server does it, and the answer is lost
)

func newProxy(t testing.TB, m *lab.MariaDB) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, target: m.Addr()}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) address() database.Address {
	a := p.listener.Addr().(*net.TCPAddr)
	return database.Address{Host: a.IP.String(), Port: a.Port}
}

// cut arms the proxy: the n-th event from now on is cut.
func (p *proxy) cut(n int, how cut, onCut func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events, p.cutAt, p.how, p.onCut, p.wasCut = nil, n, how, onCut, false
}

func (p *proxy) seen() (events []string, wasCut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.events...), p.wasCut
}

func (p *proxy) event(what string) (cutIt bool, how cut, onCut func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, what)
	if p.hook != nil {
		p.hook(what)
	}
	if p.cutAt != len(p.events) {
		return false, 0, nil
	}
	p.wasCut = true
	return true, p.how, p.onCut
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	lost, answered := make(chan struct{}), make(chan struct{})
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			select {
			case <-lost: // the client has to wait, or is left
				close(answered)
				return
			default:
			}
			if err == nil {
				_, err = client.Write(buf[:n])
			}
			if err != nil {
				client.Close()
				return
			}
		}
	}()
	for first := true; ; first = false {
		head, body, err := readPacket(client)
		if err != nil {
			return
		}
		what := ""
		switch {
		case first:
			what = "login"
			if p.strip != "" {
				body = stripUser(body, p.strip)
				head[0], head[1], head[2] = byte(len(body)), byte(len(body)>>8), byte(len(body)>>16)
			}
		case head[3] == 0 && body[0] == 3: // COM_QUERY
			what = string(body[1:])
		}
		var cutIt bool
		var how cut
		var onCut func()
		if what != "" {
			cutIt, how, onCut = p.event(what)
		}
		if !cutIt {
			if _, err := server.Write(append(head, body...)); err != nil {
				return
			}
			continue
		}
		if how == cutAfter {
			close(lost)
			if _, err := server.Write(append(head, body...)); err != nil {
				return
			}
			<-answered
		}
		if onCut != nil {
			onCut()
			_, _ = io.Copy(io.Discard, client)
		}
		return
	}
}

func readPacket(c net.Conn) (head, body []byte, err error) {
	head = make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, nil, err
	}
	n := binary.LittleEndian.Uint32(head) & 0xffffff
	body = make([]byte, n)
	_, err = io.ReadFull(c, body)
	return head, body, err
}

// stripUser edits the login packet: 32 bytes, then the user up to a NUL.
func stripUser(body []byte, suffix string) []byte {
	end := 32 + bytes.IndexByte(body[32:], 0)
	user := bytes.TrimSuffix(body[32:end], []byte(suffix))
	return append(append(append([]byte(nil), body[:32]...), user...), body[end:]...)
}
