package k8s

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/seedmend/seedmend/api"
)

// Outputs is what stands under the names that a request needs.
type Outputs struct {
	Secret  Ownership
	Service Ownership
	// Held is what a Secret of ours, or one that opted in, holds now.
	Held OutputSecret

	taken *api.Failure
}

// Taken is the OutputNameTaken failure that names the object in the way, or nil.
func (o Outputs) Taken() error {
	if o.taken == nil {
		return nil
	}
	return o.taken
}

// LookOutputs reads the Secret and the Service of a request, in two calls, and
// changes nothing. Where one of them is about to be deleted with a former
// request of the same name, it fails softly (ClusterConflict).
func (c *Client) LookOutputs(ctx context.Context, req api.Request) (Outputs, error) {
	out := Outputs{Secret: Absent, Service: Absent}

	what := call{"get", "secrets", req.Namespace, req.Name}
	secret, err := c.Kube.CoreV1().Secrets(req.Namespace).Get(ctx, req.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		if out.Secret, err = secretOwnership(secret, req, what); err != nil {
			return Outputs{}, err
		}
		if out.Secret == Foreign {
			out.taken = taken("Secret", req.Name, secret)
		} else {
			out.Held = outputFrom(secret.Data, req.ServiceName)
		}
	case !apierrors.IsNotFound(err):
		return Outputs{}, what.failure(err)
	}

	what = call{"get", "services", req.Namespace, req.ServiceName}
	service, err := c.Kube.CoreV1().Services(req.Namespace).Get(ctx, req.ServiceName, metav1.GetOptions{})
	switch {
	case err == nil:
		if out.Service, err = ownership(service, req, what); err != nil {
			return Outputs{}, err
		}
		if out.Service == Foreign && out.taken == nil {
			out.taken = taken("Service", req.ServiceName, service)
		}
	case !apierrors.IsNotFound(err):
		return Outputs{}, what.failure(err)
	}
	return out, nil
}

// secretOwnership also knows the annotation by which a Secret opts in.
func secretOwnership(secret *corev1.Secret, req api.Request, what call) (Ownership, error) {
	how, err := ownership(secret, req, what)
	if how == Foreign && secret.Annotations[api.AnnotationAllowOverwrite] == req.Name {
		how = OptedIn
	}
	return how, err
}

// ApplySecret writes the Secret of a request, and answers what the API server
// says that it now holds: those are the bytes to prove. It may be called any
// number of times. In a Secret that opted in only our keys are set; its owner,
// labels and other keys stay as they are. OutputNameTaken where the name is
// somebody else's, ErrGone where the namespace is gone.
func (c *Client) ApplySecret(ctx context.Context, req api.Request, out OutputSecret) (OutputSecret, error) {
	what := call{"patch", "secrets", req.Namespace, req.Name}
	o := output[*corev1.Secret, *corev1ac.SecretApplyConfiguration]{
		client: c.Kube.CoreV1().Secrets(req.Namespace),
		call:   what,
		req:    req,
		config: func(how Ownership, version string) *corev1ac.SecretApplyConfiguration {
			config := corev1ac.Secret(req.Name, req.Namespace).
				WithResourceVersion(version).
				WithData(out.data(req.ServiceName))
			if how == OptedIn {
				return config
			}
			return config.
				WithType(corev1.SecretTypeOpaque).
				WithLabels(map[string]string{api.LabelSecret: "true", api.LabelInstance: req.Name}).
				WithOwnerReferences(ownerReference(req))
		},
		judge: func(s *corev1.Secret) (Ownership, error) { return secretOwnership(s, req, what) },
	}
	written, _, err := o.apply(ctx)
	if err != nil {
		return OutputSecret{}, err
	}
	return outputFrom(written.Data, req.ServiceName), nil
}
