// Package stage puts seedmend on a lab: CRDs, providers, requests, and seedmend
// itself as a process of its own. The end-to-end tests, the benchmark and
// "seedmend dev" all play on it.
package stage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"golang.org/x/sync/errgroup"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/tests/lab"
)

// Options of a stage.
type Options struct {
	Lab      lab.Options
	Temporal lab.TemporalOptions
	Kube     lab.KubeOptions
	// Servers are the MariaDB instances to start, by name.
	Servers map[string]lab.MariaDBOptions
	// Binary is the seedmend program.
	Binary string
	// Hosts are addresses by name, for the seedmend processes alone; see CanName.
	Hosts map[string]string
}

// Stage is a running lab with the CRDs installed.
type Stage struct {
	Lab      *lab.Lab
	Kube     *lab.Kube
	Temporal *lab.Temporal
	Servers  map[string]*lab.MariaDB
	Client   *k8s.Client
	// Workflows is a client of Temporal.
	Workflows client.Client
	// TemporalNamespace is the one that seedmend uses; default "default".
	TemporalNamespace string
	// TemporalAddress is where seedmend looks for Temporal; default: where it is.
	TemporalAddress string

	binary string
	user   string // the identity that seedmend runs as
	hosts  string // the file that it has for /etc/hosts; empty is the machine's
}

// Up starts everything in parallel.
func Up(ctx context.Context, opts Options) (*Stage, error) {
	l, err := lab.New(ctx, opts.Lab)
	if err != nil {
		return nil, err
	}
	s := &Stage{Lab: l, Servers: map[string]*lab.MariaDB{}, binary: opts.Binary, user: "seedmend"}
	opts.Kube.Users = append(opts.Kube.Users, lab.User{Name: s.user})
	if len(opts.Hosts) > 0 {
		if s.hosts, err = writeHosts(l.Dir(), opts.Hosts); err != nil {
			return nil, fmt.Errorf("%w%s", err, closeQuietly(l))
		}
	}
	if err := s.start(ctx, opts); err != nil {
		return nil, fmt.Errorf("%w\n(logs were in %s)", err, filepath.Join(l.Dir(), "logs")+closeQuietly(l))
	}
	return s, nil
}

func closeQuietly(c io.Closer) string {
	if err := c.Close(); err != nil {
		return "; " + err.Error()
	}
	return ""
}

func (s *Stage) start(ctx context.Context, opts Options) error {
	likeProduction(&opts.Temporal)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { s.Kube, err = s.Lab.StartKube(groupCtx, opts.Kube); return err })
	group.Go(func() (err error) { s.Temporal, err = s.Lab.StartTemporal(groupCtx, opts.Temporal); return err })
	servers := make(chan *lab.MariaDB, len(opts.Servers))
	for name, o := range opts.Servers {
		o.Name = name
		group.Go(func() error {
			m, err := s.Lab.StartMariaDB(groupCtx, o)
			servers <- m
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	close(servers)
	for m := range servers {
		s.Servers[m.Name] = m
	}
	var err error
	if s.Client, err = k8s.New(s.Kube.Config); err != nil {
		return err
	}
	if err := k8s.InstallCRDs(ctx, s.Kube.Config); err != nil {
		return err
	}
	if err := s.grant(ctx); err != nil {
		return err
	}
	s.Workflows, err = client.DialContext(ctx, client.Options{
		HostPort: s.Temporal.Address,
		Logger:   sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	return err
}

// likeProduction takes a habit from Temporal's dev server that a production
// server does not have: to read the search attributes from its database at each
// use. They have to be registered before the start, then.
func likeProduction(o *lab.TemporalOptions) {
	o.SearchAttributes = map[string]string{}
	for _, name := range api.SearchAttributes() {
		o.SearchAttributes[name] = "Keyword"
	}
	o.DynamicConfig = maps.Clone(o.DynamicConfig)
	if o.DynamicConfig == nil {
		o.DynamicConfig = map[string]string{}
	}
	o.DynamicConfig["system.forceSearchAttributesCacheRefreshOnRead"] = "false"
}

// Close ends everything.
func (s *Stage) Close() error {
	if s.Workflows != nil {
		s.Workflows.Close()
	}
	return s.Lab.Close()
}

// Environment is what a seedmend command on this stage runs with.
func (s *Stage) Environment(kubeconfig string) []string {
	return append(os.Environ(),
		"TEMPORAL_ADDRESS="+cmp.Or(s.TemporalAddress, s.Temporal.Address),
		"TEMPORAL_NAMESPACE="+cmp.Or(s.TemporalNamespace, "default"),
		"KUBECONFIG="+kubeconfig,
	)
}
