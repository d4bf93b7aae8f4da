package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// Admit checks the request, its outputs' names, its seed and its provider, in
// that order. It contacts no database server.
func (s *Seeder) Admit(ctx context.Context, in api.AdmitInput) (api.Admission, error) {
	return guard(ctx, s, in.Request, func() (api.Admission, error) {
		adm := api.Admission{}
		req := in.Request
		if in.Recheck {
			live, ended, err := s.recheck(ctx, req)
			if err != nil || ended != "" {
				return api.Admission{Ended: ended}, err
			}
			if live.Newer(req) {
				adm.Request, req = &live, live
			}
		}
		return s.admit(ctx, req, adm)
	})
}

func (s *Seeder) recheck(ctx context.Context, req api.Request) (api.Request, string, error) {
	live, terminal, err := s.Cluster.Request(ctx, req.Namespace, req.Name)
	switch {
	case errors.Is(err, k8s.ErrGone):
		return live, "the request does not exist any more", nil
	case err != nil:
		return live, "", err
	case terminal:
		return live, fmt.Sprintf("generation %d was settled already", live.Generation), nil
	}
	return live, "", nil
}

func (s *Seeder) admit(ctx context.Context, req api.Request, adm api.Admission) (api.Admission, error) {
	engine, err := s.engine(req)
	if err != nil {
		return adm, err
	}
	if req.Invalid != "" {
		return adm, api.Failf(api.RequestInvalid, "%s", req.Invalid)
	}
	outputs, err := s.freeOutputs(ctx, req)
	if err != nil {
		return adm, err
	}
	var secret *corev1.Secret
	if req.Seed != nil {
		if req.Seed.Namespace != req.Namespace {
			return adm, api.Failf(api.SeedForbidden, "the seed is in namespace %q; it must be in the request's own namespace %q", req.Seed.Namespace, req.Namespace)
		}
		secret, err = s.Cluster.ReadSecret(ctx, *req.Seed)
		if err != nil && !errors.Is(err, k8s.ErrNotFound) {
			return adm, err
		}
	}
	observed, err := s.observed(ctx, req, secret == nil && complete(outputs.Held))
	if err != nil {
		return adm, err
	}
	var target api.Target
	var seed database.Seed
	switch {
	case secret != nil:
		target, seed, err = s.fromSeed(ctx, req, secret)
	case observed != nil:
		target, seed, err = s.fromOutput(ctx, req, outputs, *observed)
	case req.Seed == nil:
		err = api.Failf(api.SeedRequired, "spec.seed is not set")
	default:
		adm.SeedPending = true
		return adm, nil
	}
	if err != nil {
		return adm, err
	}
	if _, err := k8s.ServiceStyle(target.Connection.Host); err != nil {
		return adm, err
	}
	if err := engine.CheckNames(seed, target.Connection.AdminUser); err != nil {
		return adm, err
	}
	s.seeds.put(target.Source, seed, time.Now())
	adm.Target = target
	return adm, nil
}

// freeOutputs makes sure that the names of the Secret and the Service are free or ours.
func (s *Seeder) freeOutputs(ctx context.Context, req api.Request) (k8s.Outputs, error) {
	outputs, err := s.Cluster.LookOutputs(ctx, req)
	if err != nil {
		return outputs, err
	}
	return outputs, outputs.Taken()
}

func complete(o k8s.OutputSecret) bool {
	return o.Username != "" && o.Password != "" && o.Database != ""
}

func (s *Seeder) fromSeed(ctx context.Context, req api.Request, secret *corev1.Secret) (api.Target, database.Seed, error) {
	parsed, err := parseSeed(req.Seed.Name, secret.Data)
	if err != nil {
		return api.Target{}, database.Seed{}, err
	}
	connection, err := s.match(ctx, req, parsed.host, parsed.port)
	if err != nil {
		return api.Target{}, database.Seed{}, err
	}
	return api.Target{
		Connection: connection,
		Source: api.Source{
			SecretRef: *req.Seed,
			UID:       string(secret.UID),
			Version:   secret.ResourceVersion,
			KeepSeed:  strings.EqualFold(secret.Annotations[api.AnnotationKeepSeed], "true"),
		},
		Database: parsed.Database,
		Username: parsed.Username,
	}, parsed.Seed, nil
}

// observed is the connection that the status names, where the request is to be
// served from its own Secret. A run that is repeated after its last step was
// started before the status said so, hence the look at the live object.
func (s *Seeder) observed(ctx context.Context, req api.Request, wanted bool) (*api.ConnectionRef, error) {
	if !wanted {
		return nil, nil
	}
	if req.Observed != nil {
		return req.Observed, nil
	}
	live, _, err := s.Cluster.Request(ctx, req.Namespace, req.Name)
	if err == nil && live.UID == req.UID {
		return live.Observed, nil
	}
	return nil, notGone(err)
}

// fromOutput serves a request whose seed has been used up: our own Secret says
// what the tenant has, and the status says on which server.
func (s *Seeder) fromOutput(ctx context.Context, req api.Request, outputs k8s.Outputs, ref api.ConnectionRef) (api.Target, database.Seed, error) {
	connection, ok := s.Providers.ByReference(ref)
	if !ok {
		live, err := s.LiveProviders(ctx)
		if err != nil {
			return api.Target{}, database.Seed{}, err
		}
		if connection, ok = live.ByReference(ref); !ok {
			return api.Target{}, database.Seed{}, api.Failf(api.ProviderNotMatched, "provider %s has no enabled connection %s any more", ref.Provider, ref.Connection)
		}
	}
	c := outputs.Held
	return api.Target{
		Connection: connection,
		Source: api.Source{
			SecretRef: api.SecretRef{Namespace: req.Namespace, Name: req.Name},
			Output:    true,
		},
		Database: c.Database,
		Username: c.Username,
	}, database.Seed{Credentials: database.Credentials{Username: c.Username, Password: c.Password}, Database: c.Database}, nil
}

// match finds the one connection that a provider names for the seed's host.
func (s *Seeder) match(ctx context.Context, req api.Request, host string, port int) (api.Connection, error) {
	found, err := s.Providers.Match(req.Type, req.Selector, host, port)
	if err == nil && len(found) == 0 {
		var live Providers
		if live, err = s.LiveProviders(ctx); err == nil {
			found, err = live.Match(req.Type, req.Selector, host, port)
		}
	}
	if err != nil {
		return api.Connection{}, err
	}
	at := host
	if port != 0 {
		at = fmt.Sprintf("%s:%d", host, port)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return api.Connection{}, api.Failf(api.ProviderNotMatched, "no enabled connection of type %s with selector %q names %s", req.Type, req.Selector, at)
	}
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = c.Provider + "/" + c.Connection
	}
	return api.Connection{}, api.Failf(api.ProviderAmbiguous, "%d connections with selector %q name %s", len(found), req.Selector, at).
		ForOperator("%s", strings.Join(names, ", "))
}
