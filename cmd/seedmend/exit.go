package main

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"

	"github.com/seedmend/seedmend/api"
)

// Exit codes, as the help says.
const (
	exitDone        = 0
	exitUsage       = 1
	exitHard        = 2
	exitTimeout     = 3
	exitUnreachable = 4
)

// exitError ends the process with a code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func unreachable(what string, err error) error {
	return &exitError{exitUnreachable, fmt.Errorf("%s cannot be reached: %w", what, err)}
}

// ended maps the error that a workflow ended with to an exit code.
func ended(err error, waited string) error {
	if err == nil {
		return nil
	}
	var late *serviceerror.DeadlineExceeded
	var nowhere *serviceerror.NamespaceNotFound
	if errors.As(err, &nowhere) {
		return &exitError{exitUnreachable, fmt.Errorf("Temporal has no namespace %q; set TEMPORAL_NAMESPACE", nowhere.Namespace)}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) {
		return &exitError{exitTimeout, fmt.Errorf("not done after %s; the workflow goes on", waited)}
	}
	if f, ok := api.FromTemporal(err); ok {
		return hardFailure(f.Reason, f.Message)
	}
	return &exitError{exitUsage, err}
}

// hardFailure says what to do, with the reason on the last line.
func hardFailure(reason api.Reason, message string) error {
	entry, _ := api.Lookup(reason)
	return &exitError{exitHard, fmt.Errorf("%s\n%s\n%s", message, entry.Do, reason)}
}
