package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/worker"
)

// replicaLine is one replica in the list.
type replicaLine struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Group     string `json:"group"`
	api.ReplicaStatus
	Workflow string `json:"workflow,omitempty"`
}

func (p *person) statusReplicas(ctx context.Context, w io.Writer, namespace string) error {
	kube, err := p.kube()
	if err != nil {
		return err
	}
	groups, err := kube.GroupStates(ctx, namespace)
	if err != nil {
		return unreachable("the Kubernetes API", err)
	}
	options, err := worker.ClientOptions(discard, nil)
	if err != nil {
		return err
	}
	lines := []replicaLine{}
	for _, g := range groups {
		if len(g.Replicas) == 0 {
			g.Replicas = []api.ReplicaStatus{{Name: "-", Phase: api.PhaseUnknown, Reason: reasonOf(g.Group), Message: g.Group.Invalid}}
		}
		for _, r := range g.Replicas {
			l := replicaLine{Namespace: g.Group.Namespace, Kind: g.Group.Kind, Group: g.Group.Name, ReplicaStatus: r}
			if r.WorkflowID != "" {
				l.Workflow = p.link(options.Namespace, r.WorkflowID)
			}
			lines = append(lines, l)
		}
	}
	if p.output == "json" {
		return printJSON(w, lines)
	}
	if len(lines) == 0 {
		fmt.Fprintln(w, "no ReplicationGroups, and no MariaDB resources with replication")
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tKIND\tGROUP\tREPLICA\tCHANNEL\tERROR\tSINCE\tPHASE\tREASON\tLAST REPAIR\tWORKFLOW")
	for _, l := range lines {
		errno := strconv.Itoa(l.IOErrno)
		if l.IOErrno == 0 && l.Phase == api.PhaseUnknown {
			errno = "-" // not known, which is not healthy
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Namespace, l.Kind, l.Group, l.Name, dash(l.Channel), errno,
			moment(l.Since), l.Phase, dash(string(l.Reason)), moment(l.LastRepair), dash(l.Workflow))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, l := range lines {
		if l.Message != "" && l.Phase != api.PhaseHealthy && l.Phase != api.PhaseRepaired {
			fmt.Fprintf(w, "\n%s/%s/%s: %s\n", l.Namespace, l.Group, l.Name, l.Message)
		}
	}
	return nil
}

func reasonOf(g api.Group) api.Reason {
	if g.Invalid != "" {
		return api.GroupInvalid
	}
	return ""
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
