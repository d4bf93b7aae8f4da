package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// retry marks an error as "not yet".
type retry struct{ error }

func (r retry) Unwrap() error { return r.error }

func retryable(err error) error {
	if err == nil {
		return nil
	}
	return retry{err}
}

// poll calls f until it returns no error, or one that is not retryable.
func poll(ctx context.Context, f func(context.Context) error) error {
	for pause := 10 * time.Millisecond; ; pause = min(pause*3/2, 200*time.Millisecond) {
		err := f(ctx)
		var again retry
		if err == nil || !errors.As(err, &again) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (last: %w)", context.Cause(ctx), again.error)
		case <-time.After(pause):
		}
	}
}

// tail is the end of a log, for error messages.
func tail(file string, lines int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return fmt.Sprintf("last lines of %s:\n  %s", file, strings.Join(all, "\n  "))
}
