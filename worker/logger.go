package worker

import (
	"log/slog"

	sdklog "go.temporal.io/sdk/log"
)

// newLogger hands the SDK's log to slog. The SDK reports each failed try of an
// activity as an error; the steps report their failures themselves, once a
// minute a request, so that line is left out.
func newLogger(log *slog.Logger) sdklog.Logger {
	return &sdkLogger{sdklog.NewStructuredLogger(log)}
}

type sdkLogger struct{ sdklog.Logger }

var leftOut = map[string]bool{"Activity error.": true}

func (l *sdkLogger) Error(msg string, keyvals ...any) {
	if leftOut[msg] {
		l.Debug(msg, keyvals...)
		return
	}
	l.Logger.Error(msg, keyvals...)
}

// With keeps the filter on derived loggers.
func (l *sdkLogger) With(keyvals ...any) sdklog.Logger {
	return &sdkLogger{sdklog.With(l.Logger, keyvals...)}
}
