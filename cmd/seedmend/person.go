package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/starter"
	"github.com/seedmend/seedmend/worker"
)

// person flags are those of the commands that a person gives.
type person struct {
	cluster
	output  string
	ui      string
	timeout time.Duration
}

func (p *person) add(flags *pflag.FlagSet) {
	p.cluster.add(flags)
	flags.StringVarP(&p.output, "output", "o", "table", "json or table")
	flags.StringVar(&p.ui, "temporal-ui", "", "base URL of Temporal's UI, for links to workflows")
}

func (p *person) addTimeout(flags *pflag.FlagSet, d time.Duration) {
	flags.DurationVar(&p.timeout, "timeout", d, "how long to wait")
}

func (p *person) check() error {
	if p.timeout < 0 {
		return fmt.Errorf("--timeout cannot be negative")
	}
	if p.output != "json" && p.output != "table" {
		return fmt.Errorf("--output %q is not json or table", p.output)
	}
	return nil
}

func (p *person) kube() (*k8s.Client, error) {
	cfg, err := p.config()
	if err != nil {
		return nil, err
	}
	return k8s.New(cfg)
}

// request reads a request by its "namespace/name".
func (p *person) request(ctx context.Context, kube *k8s.Client, arg string) (api.Request, error) {
	namespace, name, err := split(arg)
	if err != nil {
		return api.Request{}, err
	}
	req, _, err := kube.Request(ctx, namespace, name)
	if errors.Is(err, k8s.ErrGone) {
		return req, fmt.Errorf("there is no DatabaseRequest %s", arg)
	}
	if err != nil {
		return req, unreachable("the Kubernetes API", err)
	}
	return req, nil
}

// dial connects to Temporal, once: a person is told at once.
func (p *person) dial(ctx context.Context) (*starter.Starter, func(), string, error) {
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	options, err := worker.ClientOptions(quiet, nil)
	if err != nil {
		return nil, nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, nil, "", unreachable("Temporal at "+options.HostPort, err)
	}
	return &starter.Starter{Client: c, SearchAttributes: worker.EnsureSearchAttributes(ctx, c, options.Namespace, quiet)}, c.Close, options.Namespace, nil
}

// link leads to a workflow in Temporal's UI; without a base it is the ID alone.
func (p *person) link(namespace, id string) string {
	if p.ui == "" {
		return id
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s", strings.TrimRight(p.ui, "/"), namespace, strings.ReplaceAll(id, "/", "%2F"))
}

func split(arg string) (namespace, name string, err error) {
	namespace, name, found := strings.Cut(arg, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q is not NAMESPACE/NAME", arg)
	}
	return namespace, name, nil
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

var discard = slog.New(slog.DiscardHandler)
