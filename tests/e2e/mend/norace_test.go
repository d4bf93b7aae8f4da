//go:build !race

package mend

const raceEnabled = false
