package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seedmend/seedmend/api"
)

func explainCommand() *cobra.Command {
	p := &person{}
	var seed, kind, selector string
	cmd := &cobra.Command{
		Use:   "explain NAMESPACE/NAME | --seed NAMESPACE/SECRET --type TYPE --selector SELECTOR",
		Short: "Tell the verdict for a request or a seed Secret; nothing is changed",
		Long: `Tell what seedmend would decide now, for a DatabaseRequest or for a seed Secret
that no request names yet. Nothing is changed, in the cluster or on the server.
The question is answered by a worker, which is where the servers can be reached.`,
		Example: "  seedmend explain shop/mariadb\n  seedmend explain --seed shop/mariadb-seed --type mariadb --selector development",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.check(); err != nil {
				return err
			}
			if (len(args) == 1) == (seed != "") {
				return fmt.Errorf("name either a request (NAMESPACE/NAME) or a seed (--seed NAMESPACE/SECRET)")
			}
			if seed != "" && (kind == "" || selector == "") {
				return fmt.Errorf("--seed needs --type and --selector, which a request would say")
			}
			return p.explain(cmd.Context(), cmd.OutOrStdout(), args, seed, kind, selector)
		},
	}
	p.add(cmd.Flags())
	p.addTimeout(cmd.Flags(), time.Minute)
	cmd.Flags().StringVar(&seed, "seed", "", "a seed Secret, NAMESPACE/SECRET")
	cmd.Flags().StringVar(&kind, "type", "", "with --seed: mysql or mariadb")
	cmd.Flags().StringVar(&selector, "selector", "", "with --seed: the selector of the providers")
	return cmd
}

func (p *person) explain(ctx context.Context, w io.Writer, args []string, seed, kind, selector string) error {
	req, err := p.subject(ctx, args, seed, kind, selector)
	if err != nil {
		return err
	}
	starter, closeClient, _, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer closeClient()
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	e, err := starter.Explain(ctx, req)
	if err != nil {
		return ended(err, p.timeout.String())
	}
	if p.output == "json" {
		if err := printJSON(w, e); err != nil {
			return err
		}
	} else {
		printExplanation(w, e)
	}
	if e.Reason == "" {
		return nil
	}
	if entry, _ := api.Lookup(e.Reason); !entry.Hard {
		return &exitError{exitUsage, fmt.Errorf("%s: %s", e.Reason, e.Message)}
	}
	return hardFailure(e.Reason, e.Message)
}

// subject is the request, or one made up around a seed.
func (p *person) subject(ctx context.Context, args []string, seed, kind, selector string) (api.Request, error) {
	if seed != "" {
		namespace, name, err := split(seed)
		return api.Request{
			Namespace: namespace, Name: "seedmend-explain-" + name, UID: "explain", ServiceName: "seedmend-explain",
			Type: kind, Selector: selector, Seed: &api.SecretRef{Namespace: namespace, Name: name},
		}, err
	}
	kube, err := p.kube()
	if err != nil {
		return api.Request{}, err
	}
	return p.request(ctx, kube, args[0])
}

func printExplanation(w io.Writer, e api.Explanation) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s %s\n", name, value)
		}
	}
	row("verdict", string(e.Verdict))
	row("reason", string(e.Reason))
	row("message", e.Message)
	if c := e.Connection; c != nil {
		row("provider", c.Provider)
		row("connection", fmt.Sprintf("%s (%s:%d)", c.Connection, c.Host, c.Port))
	}
	row("database", e.Database)
	row("user", e.Username)
	if f := e.Facts; f != nil {
		row("login", string(f.Auth))
		row("access", string(f.Access))
		row("exists", fmt.Sprintf("database %t, user %t", f.DatabaseExists, f.UserExists))
		row("server", f.ServerVersion)
		if f.Claim != nil {
			row("claim", f.Claim.Origin+", "+f.Claim.Phase)
		}
	}
}
