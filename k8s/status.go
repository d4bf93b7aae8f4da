package k8s

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// maxConditionMessage is the CRD's limit in characters; longer ones are cut.
const maxConditionMessage = 32768

// statusAttempts bounds the writes of one call when the object keeps changing
// under it; after that it is a soft failure.
const statusAttempts = 4

// ApplyStatus writes the status of a request: the conditions as given (one that
// seedmend set before and that is left out goes), the generation, and the
// connection, user and database. Of these, what st leaves empty stays as it is.
// A condition keeps its time while its status is the same. A status of a newer
// generation is never overwritten.
//
// It costs one call where this process watches requests, else two. ErrGone
// where the object is gone or is another one of that name.
func (c *Client) ApplyStatus(ctx context.Context, req api.Request, st api.Status) error {
	what := call{"patch", "databaserequests/status", req.Namespace, req.Name}
	live := c.cached(req)
	for range statusAttempts {
		if live == nil {
			var err error
			if live, err = c.request(ctx, req); err != nil {
				return err
			}
		}
		if live.Status.ObservedGeneration > st.ObservedGeneration {
			return nil // a step that was cut may still run, behind the one that followed
		}
		want := mergeStatus(live, req, st)
		got, err := c.applyStatus(ctx, live, want)
		switch {
		case apierrors.IsNotFound(err):
			return ErrGone
		case apierrors.IsConflict(err):
			live = nil // changed since we looked, or made anew
			continue
		case err != nil:
			return what.failure(err)
		}
		// Another manager may hold a condition that we have dropped (the
		// dbaas-controller's Error, say). It is taken over, and set to False.
		left := leftConditions(got, st)
		if len(left) == 0 {
			return nil
		}
		st.Conditions = append(append([]api.Condition(nil), st.Conditions...), left...)
		live = got
	}
	return api.Failf(api.ClusterConflict, "The request kept changing while its status was written (%s).", what)
}

// cached is the request as this process's informer has it, if it has it.
func (c *Client) cached(req api.Request) *v1alpha1.DatabaseRequest {
	find := c.known.Load()
	if find == nil {
		return nil
	}
	live := (*find)(req.Namespace, req.Name)
	if live == nil || string(live.UID) != req.UID {
		return nil // the cache may be behind, so it does not decide
	}
	return live
}

// request gets the live object of a request.
func (c *Client) request(ctx context.Context, req api.Request) (*v1alpha1.DatabaseRequest, error) {
	live, err := c.DatabaseRequests(req.Namespace).Get(ctx, req.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && string(live.UID) != req.UID {
		return nil, ErrGone
	}
	if err != nil {
		return nil, call{"get", "databaserequests", req.Namespace, req.Name}.failure(err)
	}
	return live, nil
}

// statusApply is what is sent; the version makes sure that it meets the object
// it was made for.
type statusApply struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name            string    `json:"name"`
		Namespace       string    `json:"namespace"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
	Status v1alpha1.DatabaseRequestStatus `json:"status"`
}

func (c *Client) applyStatus(ctx context.Context, live *v1alpha1.DatabaseRequest, status v1alpha1.DatabaseRequestStatus) (*v1alpha1.DatabaseRequest, error) {
	body := statusApply{Status: status}
	body.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindDatabaseRequest}
	body.Metadata.Name, body.Metadata.Namespace = live.Name, live.Namespace
	body.Metadata.UID, body.Metadata.ResourceVersion = live.UID, live.ResourceVersion
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	force := true
	return c.DatabaseRequests(live.Namespace).Patch(ctx, live.Name, types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: api.FieldManager, Force: &force}, "status")
}

// mergeStatus is the whole status to apply.
func mergeStatus(live *v1alpha1.DatabaseRequest, req api.Request, st api.Status) v1alpha1.DatabaseRequestStatus {
	out := v1alpha1.DatabaseRequestStatus{
		ObservedGeneration:                  st.ObservedGeneration,
		ObservedDatabaseConnectionReference: live.Status.ObservedDatabaseConnectionReference,
		DatabaseInfo:                        live.Status.DatabaseInfo,
	}
	if st.Connection != nil {
		out.ObservedDatabaseConnectionReference = objectReference(*st.Connection)
	}
	if st.Username != "" || st.Database != "" {
		out.DatabaseInfo = &v1alpha1.DatabaseInfo{Username: st.Username, Databasename: st.Database}
	}
	for _, want := range st.Conditions {
		if want.ObservedGeneration == 0 {
			want.ObservedGeneration = st.ObservedGeneration
		}
		out.Conditions = append(out.Conditions, metav1.Condition{
			Type:               want.Type,
			Status:             metav1.ConditionStatus(want.Status),
			Reason:             want.Reason,
			Message:            cut(want.Message, maxConditionMessage),
			LastTransitionTime: transition(want, live, req),
			ObservedGeneration: want.ObservedGeneration,
		})
	}
	return out
}

// transition is when a condition came to its status: as the live object says,
// else as the request was found, else as the caller says, else now.
func transition(want api.Condition, live *v1alpha1.DatabaseRequest, req api.Request) metav1.Time {
	if now := meta.FindStatusCondition(live.Status.Conditions, want.Type); now != nil {
		if string(now.Status) == want.Status && !now.LastTransitionTime.IsZero() {
			return now.LastTransitionTime
		}
		return timeOr(want.LastTransitionTime)
	}
	for _, then := range req.Conditions {
		if then.Type == want.Type && then.Status == want.Status && !then.LastTransitionTime.IsZero() {
			return metav1.NewTime(then.LastTransitionTime)
		}
	}
	return timeOr(want.LastTransitionTime)
}

// leftConditions are those of seedmend's types that st leaves out, and that are
// still True.
func leftConditions(got *v1alpha1.DatabaseRequest, st api.Status) []api.Condition {
	var left []api.Condition
	for _, kind := range []string{api.ConditionReady, api.ConditionError} {
		if len(st.Conditions) == 0 || named(st.Conditions, kind) || !meta.IsStatusConditionTrue(got.Status.Conditions, kind) {
			continue
		}
		left = append(left, api.Condition{
			Type: kind, Status: string(metav1.ConditionFalse),
			Reason: st.Conditions[0].Reason, Message: st.Conditions[0].Message,
			ObservedGeneration: st.Conditions[0].ObservedGeneration,
		})
	}
	return left
}

func named(conditions []api.Condition, kind string) bool {
	for _, c := range conditions {
		if c.Type == kind {
			return true
		}
	}
	return false
}
