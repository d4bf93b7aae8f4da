package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/starter"
)

func repairCommand() *cobra.Command {
	p := &person{}
	var o repairOptions
	cmd := &cobra.Command{
		Use:   "repair NAMESPACE/GROUP[/REPLICA[/CHANNEL]]",
		Short: "Mend replicas that are stuck on 1045 now, without waiting for the threshold",
		Long: `Show what a repair would do for each replica of a ReplicationGroup or MariaDB
resource, ask, and do it: prove the replication Secret on the primary, make sure
that nothing unapplied is lost, change user and password, start, and prove that
the replica replicates. A replica that is not stuck on 1045 is left alone. The
resource need not have opted in to repairs: this command is the consent.`,
		Example: "  seedmend repair shop/orders --dry-run\n  seedmend repair shop/orders/replica-1\n  seedmend repair shop/orders --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.check(); err != nil {
				return err
			}
			if p.output == "json" && !o.yes && !o.dryRun {
				return errors.New("-o json cannot ask; give --yes or --dry-run")
			}
			return p.repair(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), args[0], o)
		},
	}
	p.add(cmd.Flags())
	p.addTimeout(cmd.Flags(), 15*time.Minute)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&o.kind, "kind", "", "ReplicationGroup or MariaDB; default: whichever has that name")
	return cmd
}

type repairOptions struct {
	dryRun, yes bool
	kind        string
}

// plan is what a repair would do for one replica, or has done.
type plan struct {
	Replica string `json:"replica"`
	api.ReplicaExplanation
	Result *api.MendResult `json:"result,omitempty"`

	ref api.ReplicaRef
}

func (p *person) repair(ctx context.Context, in io.Reader, w io.Writer, arg string, o repairOptions) error {
	refs, err := p.replicas(ctx, arg, o.kind)
	if err != nil {
		return err
	}
	mends, closeClient, namespace, err := p.dialMends(ctx)
	if err != nil {
		return err
	}
	defer closeClient()
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	plans := make([]*plan, 0, len(refs))
	would := 0
	for _, ref := range refs {
		e, err := mends.Explain(ctx, ref)
		if err != nil {
			return ended(err, p.timeout.String())
		}
		if e.Would {
			would++
		}
		plans = append(plans, &plan{Replica: ref.Key(), ReplicaExplanation: e, ref: ref})
	}
	if p.output != "json" {
		printPlans(w, plans)
	}
	if !o.dryRun && would > 0 {
		if err := agreed(in, w, o.yes, would); err != nil {
			return err
		}
		err = p.mendAll(ctx, w, mends, namespace, plans)
	}
	if p.output == "json" {
		err = errors.Join(printJSON(w, plans), err)
	}
	if err != nil {
		return err
	}
	return blocked(plans)
}

// blocked is the failure of a stuck replica that cannot be mended, and of one
// that could not be looked at.
func blocked(plans []*plan) error {
	for _, x := range plans {
		if !x.Would && (x.Channel == nil || x.Channel.Stuck()) {
			return hardFailure(x.Reason, x.Replica+": "+x.Message)
		}
	}
	return nil
}

// replicas are those that the argument names.
func (p *person) replicas(ctx context.Context, arg, kind string) ([]api.ReplicaRef, error) {
	parts := strings.Split(arg, "/")
	if len(parts) < 2 || len(parts) > 4 || slices.Contains(parts, "") {
		return nil, fmt.Errorf("%q is not NAMESPACE/GROUP, NAMESPACE/GROUP/REPLICA or NAMESPACE/GROUP/REPLICA/CHANNEL", arg)
	}
	kinds := []string{api.KindReplicationGroup, api.KindMariaDB}
	if kind != "" {
		if kind != kinds[0] && kind != kinds[1] {
			return nil, fmt.Errorf("--kind %q is neither %s nor %s", kind, kinds[0], kinds[1])
		}
		kinds = []string{kind}
	}
	kube, err := p.kube()
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		g, err := kube.Group(ctx, api.GroupRef{Kind: kind, Namespace: parts[0], Name: parts[1]})
		if errors.Is(err, k8s.ErrGone) {
			continue
		}
		if err != nil {
			return nil, unreachable("the Kubernetes API", err)
		}
		return named(g, parts[2:])
	}
	return nil, fmt.Errorf("there is no %s %s/%s", strings.Join(kinds, " or "), parts[0], parts[1])
}

func named(g api.Group, parts []string) ([]api.ReplicaRef, error) {
	if g.Invalid != "" {
		return nil, fmt.Errorf("%s %s: %s", g.Kind, g.Key(), g.Invalid)
	}
	var refs []api.ReplicaRef
	for _, r := range g.Replicas {
		if len(parts) > 0 && r.Name != parts[0] || len(parts) > 1 && url.PathEscape(r.Channel) != parts[1] && r.Channel != parts[1] {
			continue
		}
		refs = append(refs, g.Ref(r))
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("%s %s has no replica %s", g.Kind, g.Key(), strings.Join(parts, "/"))
	}
	return refs, nil
}

// dialMends connects to Temporal, once.
func (p *person) dialMends(ctx context.Context) (*starter.Mends, func(), string, error) {
	s, closeClient, namespace, err := p.dial(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	return &starter.Mends{Client: s.Client, SearchAttributes: s.SearchAttributes}, closeClient, namespace, nil
}

func printPlans(w io.Writer, plans []*plan) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REPLICA\tIO\tSQL\tERROR\tREPAIR\tWHY")
	for _, x := range plans {
		io, sql, errno := "-", "-", "-"
		if c := x.Channel; c != nil {
			io, sql, errno = c.IO, "No", fmt.Sprint(c.IOErrno)
			if c.SQL {
				sql = "Yes"
			}
		}
		would, why := "no", fmt.Sprintf("%s: %s", x.Reason, x.Message)
		if x.Would {
			would, why = "yes", x.Message
			if x.Proof != nil && x.Backlog != nil {
				why += fmt.Sprintf(" (Secret %s: %s; %s)", x.Proof.Trial, x.Proof.Detail, x.Backlog.Detail)
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", x.Replica, io, sql, errno, would, why)
	}
	_ = table.Flush()
}

// agreed asks, where there is somebody to ask.
func agreed(in io.Reader, w io.Writer, yes bool, would int) error {
	if yes {
		return nil
	}
	if f, ok := in.(*os.File); ok && !terminal(f) {
		return &exitError{exitUsage, errors.New("nobody is there to confirm; nothing was done (--yes repairs without asking, --dry-run only shows)")}
	}
	replicas := "1 replica"
	if would > 1 {
		replicas = fmt.Sprintf("%d replicas", would)
	}
	fmt.Fprintf(w, "Repair %s? [y/N] ", replicas)
	line, _ := bufio.NewReader(in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return &exitError{exitUsage, errors.New("nothing was done")}
	}
	return nil
}

// mendAll starts every repair, and waits for each.
func (p *person) mendAll(ctx context.Context, w io.Writer, mends *starter.Mends, namespace string, plans []*plan) error {
	runs := make([]client.WorkflowRun, len(plans))
	var err error
	for i, x := range plans {
		if !x.Would {
			continue
		}
		if runs[i], err = mends.Repair(ctx, x.ref); err != nil {
			return unreachable("Temporal", err)
		}
	}
	var failed error
	for i, x := range plans {
		if runs[i] == nil {
			continue
		}
		result, trouble, err := mends.Outcome(ctx, x.ref, runs[i])
		if err == nil && trouble != nil {
			err = hardFailure(trouble.Reason, x.Replica+": "+trouble.Message)
		} else if err != nil {
			err = ended(err, p.timeout.String())
		} else {
			x.Result = &result
		}
		failed = errors.Join(failed, err)
		if p.output == "json" {
			continue
		}
		switch {
		case err == nil:
			fmt.Fprintf(w, "%s: %s\n", x.Replica, result.Message)
			for _, sent := range result.Sent {
				fmt.Fprintf(w, "  sent: %s\n", sent)
			}
		case trouble != nil:
			fmt.Fprintf(w, "%s: left as it is: %s: %s\n", x.Replica, trouble.Reason, trouble.Message)
		}
		fmt.Fprintf(w, "  %s\n", p.link(namespace, runs[i].GetID()))
	}
	return failed
}
