package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/starter"
)

func retryCommand() *cobra.Command {
	p := &person{}
	wait := true
	cmd := &cobra.Command{
		Use:   "retry NAMESPACE/NAME",
		Short: "Try a request again, after a hard failure or in the middle of a wait",
		Long: `Start the request's workflow again, or cut the wait of the one that runs short.
This is how a person says that the cause of a hard failure has been mended.`,
		Example: "  seedmend retry shop/mariadb",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.check(); err != nil {
				return err
			}
			return p.retry(cmd.Context(), cmd.OutOrStdout(), args[0], wait)
		},
	}
	p.add(cmd.Flags())
	p.addTimeout(cmd.Flags(), 2*time.Minute)
	cmd.Flags().BoolVar(&wait, "wait", true, "wait for the outcome")
	return cmd
}

func (p *person) retry(ctx context.Context, w io.Writer, arg string, wait bool) error {
	kube, err := p.kube()
	if err != nil {
		return err
	}
	req, err := p.request(ctx, kube, arg)
	if err != nil {
		return err
	}
	s, closeClient, namespace, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer closeClient()
	run, err := s.Reconcile(ctx, req, starter.Why{Manual: true})
	if err != nil {
		return unreachable("Temporal", err)
	}
	if p.output != "json" {
		fmt.Fprintf(w, "retrying %s: %s\n", arg, p.link(namespace, run.GetID()))
	}
	if !wait {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var result api.ReconcileResult
	if err := run.Get(ctx, &result); err != nil {
		return ended(err, p.timeout.String())
	}
	if p.output == "json" {
		return printJSON(w, result)
	}
	fmt.Fprintln(w, result.Message)
	return nil
}
