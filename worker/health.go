package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sort"
	"sync"
	"time"
)

// Health serves /livez and /readyz. Alive means that the process answers;
// ready means that every part said so: Temporal is reached, caches are synced.
// A pod that is not ready must not be restarted for it.
type Health struct {
	mu    sync.Mutex
	parts map[string]func() error
}

// NewHealth returns a Health without parts.
func NewHealth() *Health { return &Health{parts: map[string]func() error{}} }

// Part adds what readiness asks; nil from ready means that it is.
func (h *Health) Part(name string, ready func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts[name] = ready
}

// Ready returns what is not ready yet, by name.
func (h *Health) Ready() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var missing []error
	for name, ready := range h.parts {
		if err := ready(); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", name, err))
		}
	}
	sort.Slice(missing, func(i, j int) bool { return missing[i].Error() < missing[j].Error() })
	return errors.Join(missing...)
}

// Handler serves both paths.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := h.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// Serve listens on address until ctx ends. An empty address serves nothing.
func Serve(ctx context.Context, address string, handler http.Handler) error {
	if address == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(stop)
	}()
	go func() { _ = server.Serve(listener) }()
	return nil
}
