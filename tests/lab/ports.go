package lab

import (
	"errors"
	"fmt"
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

// ports are held for the life of the lab.
type ports struct {
	mu   sync.Mutex
	held []io.Closer
}

// pick gives the wanted port when it is free, any free one otherwise.
func (p *ports) pick(wanted int) (int, error) {
	if wanted != 0 && p.hold(wanted) {
		return wanted, nil
	}
	for range 1000 {
		if port := firstPort + rand.IntN(lastPort-firstPort); p.hold(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port on 127.0.0.1")
}

// hold takes a port if nothing listens there and no other lab holds it.
func (p *ports) hold(port int) bool {
	probe, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	defer probe.Close()
	if runtime.GOOS != "linux" {
		return true
	}
	// An abstract socket is a lock between processes that leaves no file and
	// ends with its holder.
	lock, err := net.Listen("unix", fmt.Sprintf("@seedmend-lab-port-%d", port))
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
