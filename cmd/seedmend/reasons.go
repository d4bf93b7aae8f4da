package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seedmend/seedmend/api"
)

func reasonsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reasons",
		Short: "Print the runbook: every reason, what it means and what to do",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(cmd.OutOrStdout(), api.Runbook())
			return nil
		},
	}
}
