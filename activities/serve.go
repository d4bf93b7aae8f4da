package activities

import (
	"context"
	"errors"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// credentials returns the seed that was admitted, or SeedChanged.
func (s *Seeder) credentials(ctx context.Context, req api.Request, t api.Target) (database.Seed, error) {
	if seed, ok := s.seeds.get(t.Source, time.Now()); ok {
		return seed, nil
	}
	secret, err := s.Cluster.ReadSecret(ctx, t.Source.SecretRef)
	if err != nil && !errors.Is(err, k8s.ErrNotFound) {
		return database.Seed{}, err
	}
	changed := api.Failf(api.SeedChanged, "Secret %q changed while the run was under way", t.Source.Name)
	if err != nil {
		return database.Seed{}, changed
	}
	if t.Source.Output {
		c := k8s.Held(secret, req.ServiceName)
		if c.Username != t.Username || c.Database != t.Database {
			return database.Seed{}, changed
		}
		return database.Seed{Credentials: database.Credentials{Username: c.Username, Password: c.Password}, Database: c.Database}, nil
	}
	if string(secret.UID) != t.Source.UID || secret.ResourceVersion != t.Source.Version {
		return database.Seed{}, changed
	}
	parsed, err := parseSeed(t.Source.Name, secret.Data)
	if err != nil {
		return database.Seed{}, err
	}
	s.seeds.put(t.Source, parsed.Seed, time.Now())
	return parsed.Seed, nil
}

// Probe finds the facts on the server. It changes nothing.
func (s *Seeder) Probe(ctx context.Context, in api.StepInput) (api.Facts, error) {
	return guard(ctx, s, in.Request, func() (api.Facts, error) {
		engine, seed, err := s.prepare(ctx, in)
		if err != nil {
			return api.Facts{}, err
		}
		facts, err := engine.Probe(ctx, s.admin(in.Target.Connection), seed)
		if err != nil {
			return facts, err
		}
		facts.Cluster, err = s.Cluster.ClusterUID(ctx)
		return facts, err
	})
}

// Adopt claims a database that exists.
func (s *Seeder) Adopt(ctx context.Context, in api.AdoptInput) (api.Done, error) {
	return guard(ctx, s, in.Request, func() (api.Done, error) {
		engine, seed, err := s.prepare(ctx, in.StepInput)
		if err != nil {
			return api.Done{}, err
		}
		owner, err := s.owner(ctx, in.Request)
		if err != nil {
			return api.Done{}, err
		}
		err = engine.Adopt(ctx, s.admin(in.Target.Connection), owner, seed, in.AccountHost)
		return api.Done{Note: "claimed; nothing created or altered"}, err
	})
}

// Create claims and makes database, user and grants, or finishes them.
func (s *Seeder) Create(ctx context.Context, in api.StepInput) (api.Done, error) {
	return guard(ctx, s, in.Request, func() (api.Done, error) {
		engine, seed, err := s.prepare(ctx, in)
		if err != nil {
			return api.Done{}, err
		}
		owner, err := s.owner(ctx, in.Request)
		if err != nil {
			return api.Done{}, err
		}
		err = engine.Create(ctx, s.admin(in.Target.Connection), owner, seed)
		return api.Done{Note: "database, user and grants made; a table written and dropped"}, err
	})
}

func (s *Seeder) prepare(ctx context.Context, in api.StepInput) (database.Engine, database.Seed, error) {
	engine, err := s.engine(in.Request)
	if err != nil {
		return nil, database.Seed{}, err
	}
	seed, err := s.credentials(ctx, in.Request, in.Target)
	return engine, seed, err
}

// Publish writes Secret and Service, and logs in with the bytes that the API
// server answered with.
func (s *Seeder) Publish(ctx context.Context, in api.PublishInput) (api.Published, error) {
	return guard(ctx, s, in.Request, func() (api.Published, error) {
		engine, seed, err := s.prepare(ctx, in.StepInput)
		if err != nil {
			return api.Published{}, err
		}
		c := in.Target.Connection
		stored, err := s.Cluster.ApplySecret(ctx, in.Request, k8s.OutputSecret{
			Username: seed.Username, Password: seed.Password, Database: seed.Database,
			Port: c.Port, ReplicaHosts: c.ReplicaHosts,
		})
		if err != nil {
			return api.Published{Gone: errors.Is(err, k8s.ErrGone)}, notGone(err)
		}
		back := database.Seed{Credentials: database.Credentials{Username: stored.Username, Password: stored.Password}, Database: stored.Database}
		if err := engine.Login(ctx, database.Address{Host: c.Host, Port: c.Port}, back); err != nil {
			return api.Published{}, err
		}
		style, err := s.Cluster.ApplyService(ctx, in.Request, c.Host, c.Port)
		return api.Published{ServiceStyle: style, Gone: errors.Is(err, k8s.ErrGone)}, notGone(err)
	})
}

// notGone drops ErrGone, which is an outcome and no failure.
func notGone(err error) error {
	if errors.Is(err, k8s.ErrGone) {
		return nil
	}
	return err
}

// Finish sets Ready, tells an event, and only then deletes the seed Secret.
func (s *Seeder) Finish(ctx context.Context, in api.FinishInput) (api.Done, error) {
	return guard(ctx, s, in.Request, func() (api.Done, error) {
		t := in.Target
		status := statusOf(in.Request, in.Reason, in.Message, true, false)
		status.Connection = &t.Connection.ConnectionRef
		status.Username, status.Database = t.Username, t.Database
		if err := s.Cluster.ApplyStatus(ctx, in.Request, status); err != nil {
			return api.Done{Gone: errors.Is(err, k8s.ErrGone)}, notGone(err)
		}
		s.Events.Normal(in.Request, string(in.Reason), in.Message)
		s.seeds.drop(t.Source)
		s.quiet.forget(in.Request.Key())
		return s.retireSeed(ctx, t.Source)
	})
}

func (s *Seeder) retireSeed(ctx context.Context, src api.Source) (api.Done, error) {
	switch {
	case src.Output:
		return api.Done{Note: "Ready; the seed had been used up before"}, nil
	case src.KeepSeed:
		return api.Done{Note: "Ready; seed Secret kept as its annotation asks"}, nil
	}
	err := s.Cluster.DeleteSecret(ctx, src.SecretRef, src.UID, src.Version)
	switch {
	case errors.Is(err, k8s.ErrChanged):
		return api.Done{Note: "Ready; seed Secret kept, since it was edited meanwhile"}, nil
	case err != nil:
		return api.Done{}, err
	}
	return api.Done{Note: "Ready; seed Secret deleted"}, nil
}

// Report writes a status that is not Ready.
func (s *Seeder) Report(ctx context.Context, in api.ReportInput) (api.Done, error) {
	return guard(ctx, s, in.Request, func() (api.Done, error) {
		err := s.Cluster.ApplyStatus(ctx, in.Request, statusOf(in.Request, in.Reason, in.Message, false, in.Failed))
		if err != nil {
			return api.Done{Gone: errors.Is(err, k8s.ErrGone)}, notGone(err)
		}
		if in.Failed {
			entry, _ := api.Lookup(in.Reason)
			s.Events.Warning(in.Request, string(in.Reason), in.Message+". "+entry.Do)
			s.Log.Warn("request failed", "request", in.Request.Key(), "generation", in.Request.Generation, "reason", in.Reason, "message", in.Message)
			s.quiet.forget(in.Request.Key())
		}
		return api.Done{}, nil
	})
}
