package k8s

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
)

// What a caller has to tell apart from a failure.
var (
	// ErrGone: the request or group does not exist any more, or another object bears its name.
	ErrGone = errors.New("the object is gone")
	// ErrNotFound: the object that was asked for does not exist.
	ErrNotFound = errors.New("not found")
	// ErrChanged: the object is not as it was when it was read; nothing was done.
	ErrChanged = errors.New("the object changed meanwhile")
)

// Failure turns an error of the Kubernetes API into an *api.Failure: a conflict
// into ClusterConflict, everything else into ClusterAPIError. What is none of
// the API's (a Failure already, an Err value of this package, a cancellation)
// comes back as it is. The server's own words are left out, since an answer
// about a Secret can echo the Secret.
func Failure(err error) error { return call{}.failure(err) }

// call is one request to the API, for the message of its failure.
type call struct {
	verb, resource, namespace, name string
}

func (c call) String() string {
	if c.resource == "" {
		return "a request"
	}
	name := c.name
	if c.namespace != "" {
		name = c.namespace + "/" + name
	}
	return strings.TrimSpace(c.verb + " " + c.resource + " " + name)
}

// quotes tells whether the server's words may be repeated.
func (c call) quotes() bool { return c.resource != "" && c.resource != "secrets" }

func (c call) failure(err error) error {
	var known *api.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, ErrGone), errors.Is(err, ErrNotFound), errors.Is(err, ErrChanged),
		errors.Is(err, context.Canceled):
		return err
	}
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return c.answered(err, answer.Status())
	}
	f := api.Failf(api.ClusterAPIError, "The Kubernetes API did not answer (%s).", c)
	if c.quotes() {
		return f.ForOperator("%s", err)
	}
	return f.ForOperator("%s", cause(err))
}

// answered words an error that the API server sent.
func (c call) answered(err error, s metav1.Status) error {
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return c.explain(api.Failf(api.ClusterConflict, "An object changed while it was written (%s).", c), s)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return api.Failf(api.ClusterAPIError, "The namespace is being deleted (%s).", c)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		if what, found := denied(s.Message); found {
			return api.Failf(api.ClusterAPIError, "seedmend may not %s: its role lacks that.", what)
		}
		return c.explain(api.Failf(api.ClusterAPIError, "The Kubernetes API forbids it (%s).", c), s)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return c.explain(api.Failf(api.ClusterAPIError, "The Kubernetes API refuses the object (%s).", c), s)
	}
	return c.explain(api.Failf(api.ClusterAPIError, "The Kubernetes API did not do it (%s): %s.", c, answerName(s)), s)
}

// explain adds what only the operator should see.
func (c call) explain(f *api.Failure, s metav1.Status) *api.Failure {
	said := []string{answerName(s)}
	if c.quotes() {
		said = append(said, s.Message)
	} else if s.Details != nil {
		for _, cause := range s.Details.Causes {
			said = append(said, fmt.Sprintf("%s: %s", cause.Field, cause.Type))
		}
	}
	return f.ForOperator("%s", strings.Join(said, "; "))
}

func answerName(s metav1.Status) string {
	if s.Reason == metav1.StatusReasonUnknown {
		return fmt.Sprintf("status %d", s.Code)
	}
	return fmt.Sprintf("%s, status %d", s.Reason, s.Code)
}

// rbac is how the API server words a denial of RBAC. The verbs are those that
// exist, so that no other text can pass for one.
var rbac = regexp.MustCompile(`cannot (get|list|watch|create|update|patch|delete|deletecollection) resource "([a-z./-]+)" in API group "([a-z0-9.-]*)"(?: in the namespace "([a-z0-9-]+)")?`)

func denied(message string) (string, bool) {
	m := rbac.FindStringSubmatch(message)
	if m == nil {
		return "", false
	}
	what := m[1] + " " + m[2]
	if m[3] != "" {
		what += "." + m[3]
	}
	if m[4] != "" {
		what += " in namespace " + m[4]
	}
	return what, true
}

// cause words an error of the way to the server without what came back on it.
func cause(err error) string {
	var (
		network *net.OpError
		cert    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &network):
		return network.Error()
	case errors.As(err, &cert):
		return cert.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return fmt.Sprintf("an error of type %T", err)
}
