package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seedmend/seedmend/api"
)

func reasonsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "reasons [REASON]",
		Short:   "Tell what a reason means and what to do; without one, print the runbook",
		Example: "  seedmend reasons SecretMismatch",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				fmt.Fprint(cmd.OutOrStdout(), api.Runbook())
				return nil
			}
			e, known := api.Lookup(api.Reason(args[0]))
			if !known {
				return fmt.Errorf("there is no reason %q; \"seedmend reasons\" lists all", args[0])
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", e.Means, e.Do)
			return nil
		},
	}
}
