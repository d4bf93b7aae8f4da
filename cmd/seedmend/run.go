package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/seedmend/seedmend/activities"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/worker"
)

func runCommand() *cobra.Command {
	return serviceCommand("run", "Run worker and watcher in one process", true, true)
}

func workerCommand() *cobra.Command {
	return serviceCommand("worker", "Run the worker alone: it does what workflows ask for", true, false)
}

func watchCommand() *cobra.Command {
	return serviceCommand("watch", "Run the watcher alone: it starts a workflow for each request that needs one", false, true)
}

func serviceCommand(use, short string, works, watches bool) *cobra.Command {
	s := &service{}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		Long: short + ".\n\nTemporal or its namespace may come up later: it is waited for, and /readyz says so meanwhile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			log, err := s.logger()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), s, log, works, watches)
		},
	}
	s.addCommon(cmd.Flags())
	if works {
		s.addWorker(cmd.Flags())
	}
	if watches {
		s.addWatcher(cmd.Flags())
	}
	return cmd
}

// serve runs until ctx ends, which a SIGTERM makes it do.
func serve(ctx context.Context, s *service, log *slog.Logger, works, watches bool) error {
	cfg, err := s.config()
	if err != nil {
		return err
	}
	kube, err := k8s.New(cfg)
	if err != nil {
		return err
	}
	metrics, err := worker.NewMetrics()
	if err != nil {
		return err
	}
	health := worker.NewHealth()
	if err := errors.Join(worker.Serve(ctx, s.healthAddress, health.Handler()), worker.Serve(ctx, s.metricsAddress, metrics.Handler())); err != nil {
		return err
	}
	kube.ClusterDomain = s.clusterDomain
	p := &process{service: s, kube: kube, metrics: metrics, health: health, log: log}
	return p.run(ctx, works, watches)
}

// newMender gives the steps of mending what they work with.
func newMender(kube *k8s.Client, watch *k8s.Watch, events activities.GroupEvents, engine database.Replication, runs activities.Runs, log *slog.Logger) *activities.Mender {
	mender := activities.NewMender()
	mender.Groups = kube
	mender.Known = watch.Groups
	mender.Engine = engine
	mender.Runs = runs
	mender.Events = events
	mender.Log = log
	return mender
}

// newSeeder gives the steps of seeding what they work with.
func newSeeder(kube *k8s.Client, watch *k8s.Watch, events activities.Events, engine database.Engine, log *slog.Logger) *activities.Seeder {
	seeder := activities.NewSeeder()
	seeder.Cluster = kube
	seeder.Providers = watch.Catalog()
	seeder.LiveProviders = func(ctx context.Context) (activities.Providers, error) { return watch.Catalog().Live(ctx) }
	seeder.Engines = map[string]database.Engine{k8s.TypeMySQL: engine, k8s.TypeMariaDB: engine}
	seeder.Events = events
	seeder.Log = log
	return seeder
}

func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "seedmend"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
