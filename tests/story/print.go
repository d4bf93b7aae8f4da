package story

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// teller prints. On a terminal it uses colours and a line that moves while
// something is waited for; elsewhere there are plain lines.
type teller struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	colours  bool
	moving   string // the line that moves, while there is one
}

func newTeller(w io.Writer, terminal bool) *teller {
	return &teller{w: w, terminal: terminal, colours: terminal && os.Getenv("NO_COLOR") == ""}
}

func (t *teller) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := fmt.Sprintf(format, args...) + "\n"
	if t.moving != "" {
		line = clearLine + line + t.moving
	}
	fmt.Fprint(t.w, line)
}

func (t *teller) item(format string, args ...any) { t.say("   - "+format, args...) }

func (t *teller) heading(format string, args ...any) {
	t.say("\n%s", t.paint(bold, fmt.Sprintf(format, args...)))
}

// field is one line under a scene.
func (t *teller) field(name, text string) { t.say("   %-9s %s", name, text) }

type colour string

const (
	bold  colour = "1"
	green colour = "32"
	red   colour = "31"
	faint colour = "2"
)

func (t *teller) paint(c colour, text string) string {
	if !t.colours {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// wait shows, on a terminal, that something is under way; stop removes it.
func (t *teller) wait(what string) (stop func()) {
	if !t.terminal {
		return func() {}
	}
	began := time.Now()
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-end:
				t.move("")
				return
			case <-ticker.C:
				t.move(fmt.Sprintf("   %c %s, %s", `|/-\`[i%4], what, seconds(time.Since(began))))
			}
		}
	})
	return sync.OnceFunc(func() { close(end); done.Wait() })
}

// clearLine goes back to the start of the line and empties it.
const clearLine = "\r\x1b[K"

func (t *teller) move(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moving = line
	fmt.Fprint(t.w, clearLine+line)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func tail(log string, lines int) string {
	all := strings.Split(strings.TrimRight(log, "\n"), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}

// progress turns the lab's log into lines for people.
type progress struct{ *teller }

// Enabled leaves debug lines out.
func (p *progress) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle prints one line.
func (p *progress) Handle(_ context.Context, r slog.Record) error {
	values := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool { values[a.Key] = a.Value; return true })
	if name, ok := values["server"]; ok && r.Message == "started" {
		p.item("%s is up after %s (pid %s)", name, seconds(values["after"].Duration()), values["pid"])
		return nil
	}
	p.item("%s", r.Message)
	return nil
}

// WithAttrs is not used by the lab.
func (p *progress) WithAttrs([]slog.Attr) slog.Handler { return p }

// WithGroup is not used by the lab.
func (p *progress) WithGroup(string) slog.Handler { return p }
