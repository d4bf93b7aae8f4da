package api

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
)

// Failure is an error of the failure table. Message is shown to the tenant;
// Operator is shown only in Temporal and in the log. Neither holds a credential.
type Failure struct {
	Reason   Reason
	Message  string
	Operator string
}

// Failf makes a Failure. An argument must never be a credential.
func Failf(r Reason, format string, args ...any) *Failure {
	return &Failure{Reason: r, Message: fmt.Sprintf(format, args...)}
}

// ForOperator adds what the tenant must not see.
func (f *Failure) ForOperator(format string, args ...any) *Failure {
	f.Operator = fmt.Sprintf(format, args...)
	return f
}

func (f *Failure) Error() string {
	if f.Operator == "" {
		return f.Message
	}
	return f.Message + " (" + f.Operator + ")"
}

// Hard tells whether trying again by itself is forbidden.
func (f *Failure) Hard() bool {
	e, known := Lookup(f.Reason)
	return known && e.Hard
}

// ToTemporal turns any error that wraps a Failure, or one of Temporal's
// application errors, into one whose top level carries type and retryability:
// Temporal looks at the top level only. Other errors come back as they are.
func ToTemporal(err error) error {
	if err == nil {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		details := FailureDetails{Message: f.Message, Operator: f.Operator}
		if f.Hard() {
			return temporal.NewNonRetryableApplicationError(f.Error(), string(f.Reason), nil, details)
		}
		return temporal.NewApplicationError(f.Error(), string(f.Reason), details)
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) && error(app) != err { //nolint:errorlint // what is wrapped is not at the top
		if back, ok := FromTemporal(err); ok {
			return ToTemporal(back)
		}
	}
	return err
}

// FailureDetails are the details of the application error.
type FailureDetails struct {
	Message  string `json:"message"`
	Operator string `json:"operator,omitempty"`
}

// FromTemporal finds the Failure in an error that came through Temporal. It
// answers false where there is none (a timeout, a cancellation, a panic).
func FromTemporal(err error) (*Failure, bool) {
	var f *Failure
	if errors.As(err, &f) {
		return f, true
	}
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return nil, false
	}
	if _, known := Lookup(Reason(app.Type())); !known {
		return nil, false
	}
	f = &Failure{Reason: Reason(app.Type()), Message: app.Message()}
	var d FailureDetails
	if app.HasDetails() && app.Details(&d) == nil {
		f.Message, f.Operator = d.Message, d.Operator
	}
	return f, true
}
