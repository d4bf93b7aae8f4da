package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	enums "go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

const namespace = "corpus"

type recorder struct {
	stage       *stage.Stage
	server      *lab.MariaDB
	dir, suffix string
}

// scene is one history: what to do before the request is made, and after.
type scene struct {
	name   string
	before func(ctx context.Context, r *recorder, name string) error
	after  func(ctx context.Context, r *recorder, name string) error
	// explain records ExplainSeed instead.
	explain bool
}

func (r *recorder) scenes() []scene {
	return []scene{
		{name: "adopted", before: both(exists, seed)},
		{name: "created", before: seed},
		{name: "rejected", before: both(exists, wrongSeed)},
		{name: "seed-late", after: late},
		{name: "seed-never"},
		{name: "retried", before: both(seed, serverDown), after: serverUp},
		{name: "superseded", before: both(seed, serverDown), after: both(retrying, force, serverUp)},
		{name: "retried-by-hand", before: both(seed, serverDown), after: both(retrying, byHand, serverUp)},
		{name: "deleted", before: both(seed, serverDown), after: both(retrying, remove, serverUp)},
		{name: "kept", before: both(seed, serverUp), after: both(settled, force)},
		{name: "explained", before: both(exists, seed), after: explain, explain: true},
	}
}

type act = func(ctx context.Context, r *recorder, name string) error

func both(acts ...act) act {
	return func(ctx context.Context, r *recorder, name string) error {
		for _, a := range acts {
			if err := a(ctx, r, name); err != nil {
				return err
			}
		}
		return nil
	}
}

func (r *recorder) play(ctx context.Context, s scene) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := r.stage.Namespace(ctx, namespace); err != nil {
		return err
	}
	if s.before != nil {
		if err := s.before(ctx, r, s.name); err != nil {
			return err
		}
	}
	if _, err := r.stage.Request(ctx, namespace, s.name); err != nil {
		return err
	}
	if s.after != nil {
		if err := s.after(ctx, r, s.name); err != nil {
			return err
		}
	}
	id := api.DatabaseWorkflowID(namespace, s.name)
	if s.explain {
		id = api.ExplainWorkflowID(namespace, s.name)
	}
	_ = stage.Eventually(ctx, func() error { // a scene may end in a failure
		_, err := r.stage.Workflows.DescribeWorkflow(ctx, id, "")
		return err
	})
	_ = r.stage.Workflows.GetWorkflow(ctx, id, "").Get(ctx, nil)
	return r.write(ctx, id, s.name)
}

func (r *recorder) write(ctx context.Context, id, name string) error {
	var h history.History
	events := r.stage.Workflows.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		h.Events = append(h.Events, e)
	}
	data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&h)
	if err != nil {
		return err
	}
	data = identity.ReplaceAll(data, []byte(`"identity": "recorded"`))
	return os.WriteFile(filepath.Join(r.dir, name+r.suffix+".json"), append(data, '\n'), 0o644)
}

// identity is where the machine's name stands in a history.
var identity = regexp.MustCompile(`"identity": *"[^"]*"`)

func database(name string) string { return "corpus_" + name }

func seed(ctx context.Context, r *recorder, name string) error {
	return r.stage.Secret(ctx, namespace, name+"-seed", stage.SeedFor(r.server, database(name), "u-"+name, "recorded"))
}

func wrongSeed(ctx context.Context, r *recorder, name string) error {
	return r.stage.Secret(ctx, namespace, name+"-seed", stage.SeedFor(r.server, database(name), "u-"+name, "not it"))
}

func exists(ctx context.Context, r *recorder, name string) error {
	for _, statement := range []string{
		"CREATE DATABASE `" + database(name) + "`",
		"CREATE USER 'u-" + name + "'@'%' IDENTIFIED BY 'recorded'",
		"GRANT ALL ON `" + database(name) + "`.* TO 'u-" + name + "'@'%'",
	} {
		if _, err := r.server.DB().ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func serverDown(ctx context.Context, r *recorder, _ string) error { return r.server.Stop(ctx) }

func serverUp(ctx context.Context, r *recorder, _ string) error {
	if r.server.PID() != 0 {
		return nil
	}
	return r.server.Start(ctx)
}

func late(ctx context.Context, r *recorder, name string) error {
	if err := r.reason(ctx, name, api.ReasonWaitingForSeed); err != nil {
		return err
	}
	return seed(ctx, r, name)
}

func retrying(ctx context.Context, r *recorder, name string) error {
	return r.reason(ctx, name, api.ReasonRetrying)
}

func settled(ctx context.Context, r *recorder, name string) error {
	_, err := r.stage.Settled(ctx, namespace, name)
	return err
}

func (r *recorder) reason(ctx context.Context, name string, want api.Reason) error {
	return stage.Eventually(ctx, func() error {
		obj, err := r.stage.Get(ctx, namespace, name)
		if err != nil {
			return err
		}
		for _, c := range obj.Status.Conditions {
			if c.Reason == string(want) {
				return nil
			}
		}
		return fmt.Errorf("%s is not yet %s", name, want)
	})
}

func force(ctx context.Context, r *recorder, name string) error {
	obj, err := r.patch(ctx, name, `{"spec":{"forcedReconcilation":"2026-01-01T00:00:00Z"}}`)
	if err != nil {
		return err
	}
	if r.server.PID() == 0 {
		return nil // the run that waits takes it up
	}
	return stage.Eventually(ctx, func() error {
		now, err := r.stage.Get(ctx, namespace, name)
		if err == nil && now.Status.ObservedGeneration != obj.Generation {
			err = fmt.Errorf("generation %d is not observed yet", obj.Generation)
		}
		return err
	})
}

func (r *recorder) patch(ctx context.Context, name, patch string) (*v1alpha1.DatabaseRequest, error) {
	return r.stage.Client.DatabaseRequests(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
}

func byHand(ctx context.Context, r *recorder, name string) error {
	code, _, errs := r.stage.Command(ctx, "retry", namespace+"/"+name, "--wait=false")
	if code != 0 {
		return fmt.Errorf("retry: exit code %d: %s", code, errs)
	}
	return nil
}

func remove(ctx context.Context, r *recorder, name string) error {
	return r.stage.Client.DatabaseRequests(namespace).Delete(ctx, name, metav1.DeleteOptions{})
}

func explain(ctx context.Context, r *recorder, name string) error {
	code, _, errs := r.stage.Command(ctx, "explain", namespace+"/"+name)
	if code != 0 {
		return fmt.Errorf("explain: exit code %d: %s", code, errs)
	}
	return nil
}
