package crash

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/stage"
)

// supervisor keeps one seedmend running, as a kubelet does.
type supervisor struct {
	mu      sync.Mutex
	process *stage.Process
	kills   int
	ended   bool
	all     []*stage.Process
}

// supervise starts and restarts seedmend until the test ends.
func supervise(t *testing.T) *supervisor {
	t.Helper()
	s := &supervisor{}
	failed := make(chan error, 1)
	var watching sync.WaitGroup
	require.NoError(t, s.start())
	watching.Go(func() {
		for {
			p := s.current()
			<-p.Done()
			if s.over() {
				return
			}
			if err := s.start(); err != nil {
				failed <- err
				return
			}
		}
	})
	t.Cleanup(func() {
		s.end()
		watching.Wait()
		select {
		case err := <-failed:
			t.Error(err)
		default:
		}
		for _, p := range s.all {
			p.Kill()
			examine(t, p)
		}
	})
	return s
}

func (s *supervisor) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	p, err := on.Seedmend("run", service...)
	if err == nil {
		s.process, s.all = p, append(s.all, p)
	}
	return err
}

func (s *supervisor) current() *stage.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

func (s *supervisor) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// kill ends the process that runs now, as a crash does.
func (s *supervisor) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Kill()
	s.kills++
}

func (s *supervisor) killed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kills
}

func (s *supervisor) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.process.Kill()
}
