package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database/mysql"
	"github.com/seedmend/seedmend/starter"
)

// environment gives each flag that was not set its twin's value.
func environment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "SEEDMEND_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, set := os.LookupEnv(name)
		if f.Changed || !set || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s: %w", name, err)
		}
	})
	return failed
}

// logging flags.
type logging struct{ level, format string }

func (l *logging) add(flags *pflag.FlagSet) {
	flags.StringVar(&l.level, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&l.format, "log-format", "json", "json or text")
}

func (l *logging) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, fmt.Errorf("--log-level %q is not debug, info, warn or error", l.level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch l.format {
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q is not json or text", l.format)
}

// cluster flags.
type cluster struct{ kubeconfig string }

func (c *cluster) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig file; default: KUBECONFIG, ~/.kube/config, or the pod's own service account")
}

func (c *cluster) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no Kubernetes cluster is configured (set --kubeconfig): %w", err)
	}
	return cfg, nil
}

// service flags are those of run, worker and watch.
type service struct {
	logging
	cluster
	providerNamespaces []string
	databaseTLS        string
	tuning             api.Tuning
	sweeps             starter.Sweeps
	clusterDomain      string
	leaderElection     bool
	leaderNamespace    string
	healthAddress      string
	metricsAddress     string
}

func (s *service) addCommon(flags *pflag.FlagSet) {
	s.logging.add(flags)
	s.cluster.add(flags)
	flags.StringVar(&s.healthAddress, "health-address", ":8080", "address of /livez and /readyz; empty = none")
	flags.StringVar(&s.metricsAddress, "metrics-address", ":9090", "address of /metrics; empty = none")
	flags.StringVar(&s.clusterDomain, "cluster-domain", "cluster.local", "the cluster's DNS domain, in which the pods of MariaDB resources are found")
	flags.StringSliceVar(&s.providerNamespaces, "provider-namespace", []string{"lagoon"}, "namespaces that DatabaseMySQLProviders are read from (repeatable)")
}

func (s *service) addWorker(flags *pflag.FlagSet) {
	flags.StringVar(&s.databaseTLS, "database-tls", string(mysql.TLSPreferred), "TLS to database servers: disabled, preferred (when offered, not verified), required (not verified) or verify")
}

func (s *service) addWatcher(flags *pflag.FlagSet) {
	flags.DurationVar(&s.tuning.Deadline, "deadline", time.Hour, "how long soft failures of a request are retried")
	flags.DurationVar(&s.tuning.SeedWait, "seed-wait", 30*time.Second, "how long a seed Secret that does not exist yet is waited for")
	flags.DurationVar(&s.sweeps.Groups, "sweep-interval", 30*time.Second, "how often the replicas of ReplicationGroups are looked at; 0 = never")
	flags.DurationVar(&s.sweeps.Operated, "mariadb-sweep-interval", 5*time.Minute, "how often the replicas of MariaDB resources that opted in are looked at; 0 = only when the resource reports an error")
	flags.BoolVar(&s.leaderElection, "leader-election", true, "let one of several watchers act at a time")
	flags.StringVar(&s.leaderNamespace, "leader-election-namespace", "", "namespace of the Lease; default: the pod's own")
}

func (s *service) check() error {
	if _, err := mysql.ParseTLSPolicy(s.databaseTLS); err != nil {
		return fmt.Errorf("--database-tls: %w", err)
	}
	if s.tuning.Deadline < 0 || s.tuning.SeedWait < 0 {
		return fmt.Errorf("--deadline and --seed-wait cannot be negative")
	}
	if s.sweeps.Groups < 0 || s.sweeps.Operated < 0 {
		return fmt.Errorf("--sweep-interval and --mariadb-sweep-interval cannot be negative")
	}
	if b := s.sweeps.Groups; b > 0 && b < time.Second {
		return fmt.Errorf("--sweep-interval cannot be shorter than 1s")
	}
	return nil
}

// podNamespace is where a pod's service account says that it lives.
func podNamespace() string {
	data, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return "default"
	}
	return strings.TrimSpace(string(data))
}
