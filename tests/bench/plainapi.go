package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

var apply = metav1.ApplyOptions{FieldManager: "plain", Force: true}

// outputs writes Secret and Service.
func (p plain) outputs(ctx context.Context, o order) error {
	core := p.kube.Kube.CoreV1()
	secret := corev1ac.Secret(o.name, o.namespace).WithType(corev1.SecretTypeOpaque).
		WithLabels(map[string]string{api.LabelSecret: "true", api.LabelInstance: o.name}).
		WithData(map[string][]byte{
			"DB_USERNAME": []byte(o.username), "DB_PASSWORD": []byte(o.password), "DB_DATABASE": []byte(o.database),
			"DB_HOST": []byte(o.name), "DB_PORT": []byte(strconv.Itoa(p.server.Port)),
		})
	if _, err := core.Secrets(o.namespace).Apply(ctx, secret, apply); err != nil {
		return err
	}
	service := corev1ac.Service(o.name, o.namespace).
		WithLabels(map[string]string{api.LabelService: "true", api.LabelInstance: o.name}).
		WithSpec(corev1ac.ServiceSpec().WithType(corev1.ServiceTypeExternalName).WithExternalName("localhost"))
	_, err := core.Services(o.namespace).Apply(ctx, service, apply)
	return err
}

// ready writes the status and an event, and deletes the seed.
func (p plain) ready(ctx context.Context, o order) error {
	now := metav1.Now()
	object := v1alpha1.DatabaseRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindDatabaseRequest},
		ObjectMeta: metav1.ObjectMeta{Name: o.name},
		Status: v1alpha1.DatabaseRequestStatus{
			ObservedGeneration: 1,
			DatabaseInfo:       &v1alpha1.DatabaseInfo{Username: o.username, Databasename: o.database},
			Conditions: []metav1.Condition{
				{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "Created", ObservedGeneration: 1, LastTransitionTime: now},
				{Type: api.ConditionError, Status: metav1.ConditionFalse, Reason: "NoError", ObservedGeneration: 1, LastTransitionTime: now},
			},
		},
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": object.APIVersion, "kind": object.Kind,
		"metadata": map[string]string{"name": o.name}, "status": object.Status,
	})
	if err != nil {
		return err
	}
	force := true
	written, err := p.kube.DatabaseRequests(o.namespace).Patch(ctx, o.name, types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: "plain", Force: &force}, "status")
	if err != nil {
		return err
	}
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: o.name + "." + strconv.FormatInt(time.Now().UnixNano(), 16), Namespace: o.namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: o.namespace, Name: o.name, UID: written.UID},
		Type:           corev1.EventTypeNormal, Reason: "Created", Message: "created database " + o.database, Count: 1,
		FirstTimestamp: now, LastTimestamp: now, Source: corev1.EventSource{Component: "plain"},
	}
	core := p.kube.Kube.CoreV1()
	if _, err := core.Events(o.namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		return err
	}
	return core.Secrets(o.namespace).Delete(ctx, o.secretName(), metav1.DeleteOptions{})
}
