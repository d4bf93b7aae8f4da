package activities

import (
	"sync"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// handoffTTL is how long the steps of one run share one read of a Secret.
const handoffTTL = 10 * time.Second

// handoff keeps a seed between the steps of a run that follow each other within
// milliseconds in one process, so that a request costs one read of its Secret.
// A step that finds nothing here reads the Secret again.
type handoff struct {
	ttl  time.Duration
	mu   *sync.Mutex
	held map[api.Source]held
}

type held struct {
	seed  database.Seed
	until time.Time
}

func newHandoff(ttl time.Duration) handoff {
	return handoff{ttl: ttl, mu: &sync.Mutex{}, held: map[api.Source]held{}}
}

func (h handoff) put(src api.Source, seed database.Seed, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, v := range h.held {
		if now.After(v.until) {
			delete(h.held, k)
		}
	}
	h.held[src] = held{seed: seed, until: now.Add(h.ttl)}
}

func (h handoff) get(src api.Source, now time.Time) (database.Seed, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.held[src]
	if !ok || now.After(v.until) {
		return database.Seed{}, false
	}
	return v.seed, true
}

func (h handoff) drop(src api.Source) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, src)
}
