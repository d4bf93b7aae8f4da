package api

import (
	"math"
	"time"
)

// Patience is the backoff of a step that failed softly: one second at first,
// since most interruptions are a restart; half a minute at most, so that a
// server that comes back is noticed soon and 10 000 waiting requests make 330
// tries a second at worst. The workflow retries by it, and the status tells the
// next try by it.
const (
	PatienceInitial     = time.Second
	PatienceCoefficient = 2.0
	PatienceMaximum     = 30 * time.Second
)

// Backoff is the pause after an attempt, counted from 1.
func Backoff(attempt int32) time.Duration {
	wait := float64(PatienceInitial) * math.Pow(PatienceCoefficient, float64(attempt-1))
	return time.Duration(math.Min(wait, float64(PatienceMaximum)))
}
