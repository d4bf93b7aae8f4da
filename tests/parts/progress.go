package parts

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// heartbeat is how often a long step says that it is still under way.
const heartbeat = 30 * time.Second

// watch announces a long step and repeats that it goes on, until stop.
func (g Getter) watch(format string, args ...any) (stop func()) {
	what := fmt.Sprintf(format, args...)
	g.say("%s", what)
	name, _, _ := strings.Cut(what, ":")
	began := time.Now()
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				g.say("%s: still at it after %s", name, time.Since(began).Round(time.Second))
			}
		}
	})
	return func() { close(end); wg.Wait() }
}

// lastLines is the end of a command's output, for error messages.
func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-20):], "\n  ")
}
