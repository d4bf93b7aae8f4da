// Command seedmend takes databases under management and mends replicas.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func execute(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var e *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		if e.err != nil {
			fmt.Fprintln(os.Stderr, "seedmend: "+e.err.Error())
		}
		return e.code
	default:
		fmt.Fprintf(os.Stderr, "seedmend: %v\nRun 'seedmend --help' for the commands and flags.\n", err)
		return exitUsage
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "seedmend",
		Short: "Take databases under management, durably, without moving a byte",
		Long: `seedmend turns a DatabaseRequest with a seed into a working Secret and Service:
it adopts the database that the seed names, or creates what the seed describes,
through a Temporal workflow that survives crashes and says what it did and why.
And it mends replicas that are stuck on error 1045, because their stored
password has diverged, without losing an event.

Exit codes: 0 done, 1 usage or internal error, 2 hard failure (the reason is on
the last line), 3 timed out waiting, 4 Temporal or the Kubernetes API cannot be
reached. Every flag has a twin in the environment: --log-level is
SEEDMEND_LOG_LEVEL. Temporal is found by its own settings (TEMPORAL_ADDRESS,
TEMPORAL_NAMESPACE, TEMPORAL_TLS, TEMPORAL_API_KEY, TEMPORAL_PROFILE).`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return environment(cmd.Flags())
		},
	}
	root.AddCommand(runCommand(), workerCommand(), watchCommand(), explainCommand(), statusCommand(), retryCommand(), repairCommand(), reasonsCommand(), devCommand())
	return root
}
