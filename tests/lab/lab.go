package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/seedmend/seedmend/tests/parts"
)

var errClosed = errors.New("the lab is closed")

// Options of a lab; the zero value is good for tests.
type Options struct {
	// Dir holds data and logs. It has to be empty or missing; the default is a
	// new directory under the system's temporary directory.
	Dir string
	// Keep leaves Dir in place on Close.
	Keep bool
	// Log gets one line for each server; the default is silence.
	Log *slog.Logger
}

// Lab is a set of servers that start and end together.
type Lab struct {
	dir    string
	runDir string // unix sockets: their paths have a limit of about 100 bytes
	keep   bool
	log    *slog.Logger
	getter parts.Getter
	ports  ports

	// ctx ends when Close begins, and every Start still under way with it.
	ctx    context.Context
	cancel context.CancelFunc

	ca       func() (*authority, error)
	template mariaTemplate

	mu       sync.Mutex
	closed   bool
	starts   sync.WaitGroup // Start methods under way
	servers  map[string]*Server
	names    map[string]int // how often each default name was given out
	ids      int            // MariaDB server IDs given out
	scratch  []string       // directories outside Dir, removed on Close
	closeOne sync.Once
	closeErr error
}

// New makes an empty lab. The context bounds New alone; end the lab with Close.
func New(ctx context.Context, opts Options) (*Lab, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dir, err := labDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	l := &Lab{dir: dir, runDir: filepath.Join(dir, "run"), keep: opts.Keep, log: log, servers: map[string]*Server{}}
	l.getter = parts.Getter{Progress: func(line string) { log.Info(line) }}
	l.ca = sync.OnceValues(func() (*authority, error) { return newAuthority(filepath.Join(dir, "certs")) })
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if len(l.runDir) > 60 {
		if l.runDir, err = l.tempDir(); err != nil {
			return nil, err
		}
	}
	for _, d := range []string{l.runDir, filepath.Join(dir, "logs")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func labDir(dir string) (string, error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "seedmend-lab-")
		if err != nil {
			return "", err
		}
		// PostgreSQL refuses to run as root, and its user has to get in here.
		return dir, os.Chmod(dir, 0o711)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("lab directory %s is not empty: empty it or name another one", dir)
	}
	return dir, nil
}

// Dir is where the lab keeps everything; the log of each server is in
// Dir()/logs/<name>.log.
func (l *Lab) Dir() string { return l.dir }

// Close ends every server, politely first, and removes Dir unless Keep was
// asked for. It may be called more than once.
func (l *Lab) Close() error {
	l.closeOne.Do(func() { l.closeErr = l.close() })
	return l.closeErr
}

func (l *Lab) close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	l.starts.Wait() // from here on nothing is added

	// A server that others depend on (etcd) goes last.
	var errs []error
	for _, last := range []bool{false, true} {
		var wg sync.WaitGroup
		results := make(chan error, len(l.servers))
		for _, s := range l.servers {
			if s.last == last {
				wg.Go(func() { results <- s.close() })
			}
		}
		wg.Wait()
		close(results)
		for err := range results {
			errs = append(errs, err)
		}
	}
	l.ports.release()
	gone := []string{l.runDir}
	if !l.keep {
		gone = append(gone, append(l.scratch, l.dir)...)
	}
	for _, dir := range gone {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// tempDir makes a directory outside Dir that goes with the lab.
func (l *Lab) tempDir() (string, error) {
	dir, err := os.MkdirTemp("", "seedmend-lab-")
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scratch = append(l.scratch, dir)
	return dir, os.Chmod(dir, 0o711)
}

// enter begins a Start method: its context ends with Close as well, which waits
// for leave.
func (l *Lab) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, errClosed
	}
	l.starts.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return ctx, func() { stop(); cancel(); l.starts.Done() }, nil
}

// name gives the first free of base, base-2, base-3, ... and keeps it.
func (l *Lab) name(wanted, base string) string {
	if wanted != "" {
		return wanted
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names == nil {
		l.names = map[string]int{}
	}
	l.names[base]++
	if n := l.names[base]; n > 1 {
		return fmt.Sprintf("%s-%d", base, n)
	}
	return base
}

// serverID gives replicas IDs that nobody is likely to choose by hand.
func (l *Lab) serverID() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids++
	return 1000 + l.ids
}
