package story

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage"
)

// program is seedmend, which a story starts as a process.
var program string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "seedmend-story-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "seedmend")
	if err := stage.Build(context.Background(), program, false); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func TestTheWholeStory(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var told bytes.Buffer
	err := Run(ctx, Options{Binary: program, Once: true, Out: io.MultiWriter(&told, t.Output())})
	require.NoError(t, err)
	require.Contains(t, told.String(), "11 of 11 as expected")
	require.Contains(t, told.String(), "left on mariadb-2: database there, account there, grant missing")
	require.NotContains(t, told.String(), "\x1b", "no colours where there is no terminal")
	for _, key := range []string{"ADOPT_PASSWORD", "CREATE_PASSWORD", "KILLED_PASSWORD"} {
		require.Contains(t, told.String(), key)
	}
	require.NotContains(t, told.String(), `'"\ü`, "a Secret's value")
}

// A story whose expectations are wrong has to fail, and to say where.
func TestAWrongOutcomeFails(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	err := play(ctx, Options{Binary: program, Once: true, Out: t.Output()}, func(s *story) []scene {
		scenes := s.scenes()
		adopt, denied, create := scenes[0], scenes[1], scenes[5]
		adopt.want = api.ReasonCreated
		denied.want = api.CredentialsRejected
		// Right outcome, and a server with more on it than the outcome says.
		create.perform = func(ctx context.Context, s *story, sc scene, r *result) (stage.Settlement, error) {
			if _, err := s.two.DB().ExecContext(ctx, "CREATE USER stranger@localhost"); err != nil {
				return stage.Settlement{}, err
			}
			return perfectlyPlain(ctx, s, sc, r)
		}
		return []scene{adopt, denied, create}
	})
	require.ErrorContains(t, err, "adopt: the outcome is Adopted, not Created")
	require.ErrorContains(t, err, "access-denied: the outcome is AccessDenied, not CredentialsRejected")
	require.ErrorContains(t, err, "access-denied: the workflow did not fail with a non-retryable CredentialsRejected")
	require.ErrorContains(t, err, "create: on mariadb-2 these accounts are new")
	require.Equal(t, 1, strings.Count(err.Error(), "create:"))
}

func TestAnInterruptedStory(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ctx, interrupt := context.WithCancel(ctx)
	err := Run(ctx, Options{Binary: program, Once: true, Out: trigger{t.Output(), "is up after", interrupt}})
	require.ErrorIs(t, err, ErrInterrupted)
}

// trigger calls do when a text is printed.
type trigger struct {
	io.Writer
	text string
	do   func()
}

func (t trigger) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(t.text)) {
		t.do()
	}
	return t.Writer.Write(p)
}

func TestServersAreComparedLineByLine(t *testing.T) {
	before := state{"accounts": {"a@% 1", "b@% 2"}, "claims": nil}
	after := state{"accounts": {"a@% 1", "b@% 3"}, "databases": {"c"}}
	more, less := before.change(after)
	require.Equal(t, "database c; account b@%", more.words())
	require.Equal(t, "account b@%", less.words(), "a changed hash is a line gone and a line new")
	require.True(t, more.has("accounts", "b@%"))
	require.False(t, more.has("accounts", "a@%"))
	more, less = before.change(before)
	require.True(t, more.empty() && less.empty())
}
