package mysql

import (
	"container/list"
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// poolKey names a pool. No password is in it.
type poolKey struct {
	database.Address
	Username string
	// TLS is the admin's own mode and key.
	TLS string
}

func keyOf(admin database.Admin) poolKey {
	key := poolKey{Address: admin.Address, Username: admin.Username}
	if admin.TLS.Mode != "" || admin.TLS.Key != "" {
		key.TLS = admin.TLS.Mode + " " + admin.TLS.Key
	}
	return key
}

// pool holds the connections of one admin user on one server.
type pool struct {
	db        *sql.DB
	connector connector
	server    server
}

// entry is a pool in the cache, from the moment that somebody opens it.
type entry struct {
	key   poolKey
	ready chan struct{} // closed once pool or err is set
	pool  *pool
	err   error

	refs int  // under pools.mu
	gone bool // no longer in the cache; closed with the last reference
}

// pools is a bounded cache, least recently used first out.
type pools struct {
	limit int
	open  func(context.Context, database.Admin) (*pool, error)

	mu     sync.Mutex
	order  *list.List // of *entry, most recently used first
	byKey  map[poolKey]*list.Element
	closed bool
}

func newPools(limit int, open func(context.Context, database.Admin) (*pool, error)) *pools {
	return &pools{limit: limit, open: open, order: list.New(), byKey: map[poolKey]*list.Element{}}
}

// get returns the admin's pool, to be released after use. One caller opens it
// while the others wait. fresh says that this caller did.
func (p *pools) get(ctx context.Context, admin database.Admin) (e *entry, fresh bool, err error) {
	for {
		e, fresh, err = p.enter(keyOf(admin))
		if err != nil {
			return nil, false, err
		}
		if fresh {
			e.pool, e.err = p.open(ctx, admin)
			if e.err != nil {
				p.evict(e)
			}
			close(e.ready)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			p.release(e)
			return nil, false, ctx.Err()
		}
		if e.err == nil {
			return e, fresh, nil
		}
		p.release(e)
		// Whoever opened it may have run out of time; that is not our failure.
		cut := errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded)
		if fresh || !cut {
			return nil, fresh, e.err
		}
	}
}

func (p *pools) enter(key poolKey) (e *entry, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, api.Failf(api.ServerUnreachable, "seedmend is shutting down")
	}
	if el, ok := p.byKey[key]; ok {
		p.order.MoveToFront(el)
		e = el.Value.(*entry)
		e.refs++
		return e, false, nil
	}
	e = &entry{key: key, ready: make(chan struct{}), refs: 1}
	p.byKey[key] = p.order.PushFront(e)
	if p.order.Len() > p.limit {
		p.remove(p.order.Back().Value.(*entry))
	}
	return e, true, nil
}

// release gives an entry back.
func (p *pools) release(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.refs--
	p.shut(e)
}

// evict takes an entry out of the cache.
func (p *pools) evict(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(e)
}

func (p *pools) evictUser(addr database.Address, username string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, el := range p.byKey {
		if key.Address == addr && key.Username == username {
			p.remove(el.Value.(*entry))
		}
	}
}

// remove is called with the lock held.
func (p *pools) remove(e *entry) {
	if el, ok := p.byKey[e.key]; ok && el.Value == e {
		p.order.Remove(el)
		delete(p.byKey, e.key)
	}
	e.gone = true
	p.shut(e)
}

// shut closes a pool that nobody uses and nobody can find. It is called with the
// lock held; closing idle connections writes a few bytes and waits for nothing.
func (p *pools) shut(e *entry) {
	if e.gone && e.refs == 0 && e.pool != nil {
		_ = e.pool.db.Close()
		e.pool = nil
	}
}

func (p *pools) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.order.Len() > 0 {
		p.remove(p.order.Front().Value.(*entry))
	}
	return nil
}
