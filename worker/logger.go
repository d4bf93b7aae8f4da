package worker

import (
	"log/slog"

	sdklog "go.temporal.io/sdk/log"
)

// newLogger hands the SDK's log to slog. The SDK reports each try of an activity
// that failed or was late; the steps report that themselves, once a minute a
// request, so those lines go to the debug level.
func newLogger(log *slog.Logger) sdklog.Logger {
	return &sdkLogger{sdklog.NewStructuredLogger(log)}
}

type sdkLogger struct{ sdklog.Logger }

var leftOut = map[string]bool{
	"Activity error.": true,
	"LocalActivity completed after activity deadline.": true,
}

func (l *sdkLogger) Error(msg string, keyvals ...any) {
	if leftOut[msg] {
		l.Debug(msg, keyvals...)
		return
	}
	l.Logger.Error(msg, keyvals...)
}

func (l *sdkLogger) Warn(msg string, keyvals ...any) {
	if leftOut[msg] {
		l.Debug(msg, keyvals...)
		return
	}
	l.Logger.Warn(msg, keyvals...)
}

// With keeps the filter on derived loggers.
func (l *sdkLogger) With(keyvals ...any) sdklog.Logger {
	return &sdkLogger{sdklog.With(l.Logger, keyvals...)}
}
