package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/worker"
)

func statusCommand() *cobra.Command {
	p := &person{}
	var namespace string
	var replicas bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "List the requests, or the replicas, with phase, reason and workflow",
		Example: "  seedmend status\n  seedmend status -n shop -o json\n  seedmend status --replicas",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return err
			}
			if replicas {
				return p.statusReplicas(cmd.Context(), cmd.OutOrStdout(), namespace)
			}
			return p.status(cmd.Context(), cmd.OutOrStdout(), namespace)
		},
	}
	p.add(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only this namespace; default: all")
	cmd.Flags().BoolVar(&replicas, "replicas", false, "list the replicas of ReplicationGroups and MariaDB resources instead")
	return cmd
}

// line is one request in the list.
type line struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	Provider  string `json:"provider,omitempty"`
	Database  string `json:"database,omitempty"`
	Workflow  string `json:"workflow"`
}

func (p *person) status(ctx context.Context, w io.Writer, namespace string) error {
	kube, err := p.kube()
	if err != nil {
		return err
	}
	list, err := kube.DatabaseRequests(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unreachable("the Kubernetes API", err)
	}
	options, err := worker.ClientOptions(discard, nil)
	if err != nil {
		return err
	}
	lines := make([]line, 0, len(list.Items))
	for i := range list.Items {
		lines = append(lines, p.lineOf(&list.Items[i], options.Namespace))
	}
	if p.output == "json" {
		return printJSON(w, lines)
	}
	if len(lines) == 0 {
		fmt.Fprintln(w, "no DatabaseRequests")
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tPHASE\tREASON\tPROVIDER\tDATABASE\tWORKFLOW")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Namespace, l.Name, l.Phase, dash(l.Reason), dash(l.Provider), dash(l.Database), l.Workflow)
	}
	return table.Flush()
}

func (p *person) lineOf(obj *v1alpha1.DatabaseRequest, temporalNamespace string) line {
	req := k8s.Snapshot(obj)
	l := line{
		Namespace: req.Namespace, Name: req.Name, Phase: "Pending",
		Workflow: p.link(temporalNamespace, api.DatabaseWorkflowID(req.Namespace, req.Name)),
	}
	if req.Observed != nil {
		l.Provider = req.Observed.Provider
	}
	if obj.Status.DatabaseInfo != nil {
		l.Database = obj.Status.DatabaseInfo.Databasename
	}
	failed := false
	for _, c := range req.Conditions {
		if c.ObservedGeneration != req.Generation {
			continue // of an older spec
		}
		switch {
		case c.Type == api.ConditionError && c.Status == "True":
			failed = true
		case c.Type == api.ConditionReady:
			l.Reason, l.Message = c.Reason, c.Message
			l.Phase = c.Reason
			if c.Status == "True" {
				l.Phase = api.PhaseReady
			}
		}
	}
	if failed {
		l.Phase = api.PhaseFailed
	}
	return l
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
