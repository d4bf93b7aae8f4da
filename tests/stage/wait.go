package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

type stop struct{ error }

// Stop marks an error that no further try can mend.
func Stop(err error) error { return stop{err} }

// Eventually calls check until it returns nil; the last error when ctx ends.
func Eventually(ctx context.Context, check func() error) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		var final stop
		if err == nil || errors.As(err, &final) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %w", err)
		case <-ticker.C:
		}
	}
}

// freePorts returns two addresses on loopback that are free now.
func freePorts() (a, b string, err error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer first.Close()
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer second.Close()
	return first.Addr().String(), second.Addr().String(), nil
}
