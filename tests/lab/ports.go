package lab

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"sync"
)

// Ports come from below the range that the kernel hands out to outgoing
// connections, so that nothing slips in while a server restarts.
const (
	firstPort = 15000
	lastPort  = 32000
)

const loopback = "127.0.0.1"

// ports are held for the life of the lab.
type ports struct {
	mu   sync.Mutex
	held []io.Closer
}

// pick gives the wanted port when it is free, any free one otherwise.
func (p *ports) pick(wanted int) (int, error) { return p.pickAt(loopback, wanted) }

func (p *ports) pickAt(host string, wanted int) (int, error) {
	if wanted != 0 && p.hold(host, wanted) {
		return wanted, nil
	}
	for range 1000 {
		if port := firstPort + rand.IntN(lastPort-firstPort); p.hold(host, port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port on " + host)
}

// hold takes a port if nothing listens there and no other lab holds it.
func (p *ports) hold(host string, port int) bool {
	probe, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	defer probe.Close()
	if runtime.GOOS != "linux" {
		return true
	}
	// An abstract socket is a lock between processes that leaves no file and
	// ends with its holder.
	name := strconv.Itoa(port)
	if host != loopback {
		name = host + "-" + name
	}
	lock, err := net.Listen("unix", "@seedmend-lab-port-"+name)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = append(p.held, lock)
	return true
}

func (p *ports) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.held {
		c.Close()
	}
	p.held = nil
}
