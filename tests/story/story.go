package story

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// Options of a story.
type Options struct {
	// Binary is the seedmend program.
	Binary string
	// Once ends everything after the last scene.
	Once bool
	// TemporalPort and UIPort are taken where they are free.
	TemporalPort, UIPort int
	// Dir keeps data and logs; default: a temporary directory that goes at the end.
	Dir string
	// Out is told the story. Terminal says that a person sees it live.
	Out      io.Writer
	Terminal bool
}

// ErrInterrupted is the end of a story that was cut short.
var ErrInterrupted = errors.New("interrupted before the end of the story")

// namespace is where the tenants' requests stand.
const namespace = "story"

// settleTimeout is far above what a scene needs, for loaded machines.
const settleTimeout = time.Minute

// story is one showing.
type story struct {
	*teller
	opts     Options
	stage    *stage.Stage
	one, two *lab.MariaDB
	gate     *stage.Gate // stands before two
	process  *stage.Process
	settled  <-chan stage.Settlement
	pair     *pair // of the scenes about a replica
}

// Run starts everything, plays every scene, and then, unless Once is set, stays
// up until ctx ends. Everything that it started has ended when it returns. The
// error lists what went otherwise than it should.
func Run(ctx context.Context, opts Options) error {
	return play(ctx, opts, (*story).scenes)
}

func play(ctx context.Context, opts Options, scenes func(*story) []scene) (err error) {
	s := &story{opts: opts, teller: newTeller(opts.Out, opts.Terminal)}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		return err
	}
	results := s.tell(ctx, scenes(s))
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	s.summary(results)
	wrong := failures(results)
	if wrong != nil {
		s.say("The end of seedmend's log (%s):\n%s", s.process.LogFile(), tail(s.process.Log(), 15))
	}
	if opts.Once {
		return wrong
	}
	return errors.Join(wrong, s.stay(ctx))
}

func (s *story) open(ctx context.Context) error {
	began := time.Now()
	s.say("Starting the real parts on this machine; it usually takes 15 s.")
	var err error
	s.stage, err = stage.Up(ctx, stage.Options{
		Lab:      lab.Options{Dir: s.opts.Dir, Keep: s.opts.Dir != "", Log: slog.New(&progress{teller: s.teller})},
		Temporal: lab.TemporalOptions{Port: s.opts.TemporalPort, UIPort: s.opts.UIPort, UI: true, DBFile: true},
		Servers: map[string]lab.MariaDBOptions{
			"mariadb-1": {},
			// The gate has to read what passes. From 11.4 servers offer TLS unasked.
			"mariadb-2": {Args: []string{"--skip-ssl"}},
		},
		Binary: s.opts.Binary,
	})
	if err != nil {
		return err
	}
	s.one, s.two = s.stage.Servers["mariadb-1"], s.stage.Servers["mariadb-2"]
	if s.gate, err = stage.OpenGate(s.two.Addr()); err != nil {
		return err
	}
	if err := s.furnish(ctx); err != nil {
		return err
	}
	if s.settled, err = s.stage.Settlements(ctx, namespace); err != nil {
		return err
	}
	if err := s.startSeedmend(ctx); err != nil {
		return err
	}
	s.say("All up after %s.", seconds(time.Since(began)))
	return nil
}

// startSeedmend starts it as a pod would run it, with the rights of its chart.
func (s *story) startSeedmend(ctx context.Context) (err error) {
	began := time.Now()
	if s.process, err = s.stage.Seedmend("run", "--leader-election-namespace="+stage.ProviderNamespace, "--sweep-interval="+sweepEvery.String()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := s.process.Ready(ctx); err != nil {
		return err
	}
	s.item("seedmend run is ready after %s (pid %d)", seconds(time.Since(began)), s.process.PID())
	return nil
}

// close ends what open started, in reverse.
func (s *story) close() error {
	if s.stage == nil {
		return nil
	}
	if s.process != nil {
		s.process.Terminate()
		select {
		case <-s.process.Done():
		case <-time.After(5 * time.Second):
			s.process.Kill()
		}
	}
	if s.gate != nil {
		s.gate.Close()
	}
	err := s.stage.Close()
	s.say("Everything has been stopped.")
	return err
}

// tell plays the scenes, one after the other.
func (s *story) tell(ctx context.Context, scenes []scene) []result {
	var results []result
	for i, sc := range scenes {
		if ctx.Err() != nil {
			break
		}
		s.heading("%d. %s", i+1, sc.title)
		s.say("   %s", sc.shows)
		r := s.show(ctx, sc)
		if ctx.Err() == nil {
			s.report(r)
		}
		results = append(results, r)
	}
	return results
}

// failures lists what is wrong, or is nil.
func failures(results []result) error {
	var wrong []error
	for _, r := range results {
		for _, w := range r.wrong {
			wrong = append(wrong, fmt.Errorf("%s: %s", r.request, w))
		}
	}
	return errors.Join(wrong...)
}
