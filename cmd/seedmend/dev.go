package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seedmend/seedmend/tests/story"
)

func devCommand() *cobra.Command {
	var o story.Options
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Start everything on this machine and show what seedmend does",
		Long: `Start Temporal with its UI, a Kubernetes API and MariaDB servers on this machine,
run seedmend on them, and show every verdict that a seed can come to, a crash in
the middle of a creation, a replica that is mended, and one that is not until
nothing can get lost. Then everything stays up to play with,
until Ctrl-C.

The servers are got by "make deps" in a checkout; what is missing is got now,
which can take 20 minutes. A port that is taken is replaced by a free one.`,
		Example: "  seedmend dev\n  seedmend dev --once   # ends by itself; status 0 only if every outcome is right",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Binary, err = os.Executable(); err != nil {
				return err
			}
			o.Out, o.Terminal = cmd.OutOrStdout(), terminal(os.Stdout)
			if err := story.Run(cmd.Context(), o); err != nil {
				return &exitError{exitUsage, err}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Once, "once", false, "end after the story, with status 0 only if every outcome is the right one")
	flags.IntVar(&o.TemporalPort, "temporal-port", 7233, "port of Temporal, where it is free")
	flags.IntVar(&o.UIPort, "ui-port", 8233, "port of Temporal's UI, where it is free")
	flags.StringVar(&o.Dir, "dir", "", "keep data and logs in this directory; default: a temporary one that is removed at the end")
	return cmd
}

func terminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
}
