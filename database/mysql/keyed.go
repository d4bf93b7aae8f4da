package mysql

import (
	"context"
	"sync"
)

// keyed is a mutex for each key. Waiting costs no connection.
type keyed struct {
	mu    sync.Mutex
	byKey map[string]*keyedEntry
}

type keyedEntry struct {
	free chan struct{} // holds one token while nobody has the lock
	refs int
}

// lock waits for the key's lock, or for the end of the context.
func (k *keyed) lock(ctx context.Context, key string) (unlock func(), err error) {
	k.mu.Lock()
	if k.byKey == nil {
		k.byKey = map[string]*keyedEntry{}
	}
	e, ok := k.byKey[key]
	if !ok {
		e = &keyedEntry{free: make(chan struct{}, 1)}
		e.free <- struct{}{}
		k.byKey[key] = e
	}
	e.refs++
	k.mu.Unlock()

	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if e.refs--; e.refs == 0 {
			delete(k.byKey, key)
		}
	}
	select {
	case <-e.free:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	return func() { e.free <- struct{}{}; leave() }, nil
}
