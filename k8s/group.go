package k8s

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

// Keys of a ReplicationGroup's Secrets.
const (
	usernameKey = "username"
	passwordKey = "password"
)

// Group reads a group from the API server. ErrGone where there is no such
// object, where its kind is not served, and where it is no group (any more).
func (c *Client) Group(ctx context.Context, ref api.GroupRef) (api.Group, error) {
	switch ref.Kind {
	case api.KindReplicationGroup:
		obj, err := c.ReplicationGroups(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return api.Group{}, call{"get", mendv1alpha1.ResourceReplicationGroups, ref.Namespace, ref.Name}.orGone(err)
		}
		return GroupOf(obj), nil
	case api.KindMariaDB:
		obj, err := c.mariaDBs(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return api.Group{}, call{"get", mariaDBResource.Resource, ref.Namespace, ref.Name}.orGone(err)
		}
		if group, is := GroupOfMariaDB(obj, c.ClusterDomain); is {
			return group, nil
		}
	}
	return api.Group{}, ErrGone
}

// orGone is failure for a call about one object that may not exist.
func (c call) orGone(err error) error {
	if apierrors.IsNotFound(err) {
		return ErrGone
	}
	return c.failure(err)
}

// GroupOf is a ReplicationGroup in the terms of package api. What is wrong with
// its spec, and what no schema can check, is told in Invalid.
func GroupOf(obj *mendv1alpha1.ReplicationGroup) api.Group {
	spec := obj.Spec
	group := api.Group{
		GroupRef:     api.GroupRef{Kind: api.KindReplicationGroup, Namespace: obj.Namespace, Name: obj.Name},
		UID:          string(obj.UID),
		Generation:   obj.Generation,
		Primary:      endpoint(spec.Primary),
		Admin:        credentialRef(obj.Namespace, spec.AdminSecretRef),
		Replication:  credentialRef(obj.Namespace, spec.ReplicationSecretRef),
		OptedIn:      spec.Recovery.ReconnectOnAuthError,
		Threshold:    durationOr(spec.Recovery.ErrorDurationThreshold, api.DefaultThreshold),
		DrainTimeout: durationOr(spec.Recovery.DrainTimeout, api.DefaultDrainTimeout),
	}
	if spec.TLS != nil {
		group.TLS.Mode = spec.TLS.Mode
		if ca := spec.TLS.CASecretRef; ca != nil {
			group.TLS.CA = &api.SecretRef{Namespace: obj.Namespace, Name: ca.Name}
			group.TLS.CAKey = cmp.Or(ca.Key, defaultCAKey)
		}
	}
	for _, r := range spec.Replicas {
		group.Replicas = append(group.Replicas, api.GroupReplica{
			Name: r.Name, Channel: r.Channel, Endpoint: endpoint(r.Endpoint),
			Reported: reported(obj.Status, r),
		})
	}
	group.Invalid = invalidGroup(group)
	return group
}

const (
	defaultCAKey     = "ca.crt"
	defaultGroupPort = 3306
)

// endpoint leaves the host's spelling as it is, but for the brackets of an IPv6
// address: servers report their primary without.
func endpoint(e mendv1alpha1.Endpoint) api.Endpoint {
	host := strings.TrimSpace(e.Host)
	if _, isIP := parseIP(host); isIP {
		host = strings.Trim(host, "[]")
	}
	return api.Endpoint{Host: host, Port: cmp.Or(int(e.Port), defaultGroupPort)}
}

func credentialRef(namespace string, ref mendv1alpha1.SecretReference) api.CredentialRef {
	return api.CredentialRef{
		SecretRef:   api.SecretRef{Namespace: namespace, Name: ref.Name},
		UsernameKey: usernameKey, PasswordKey: passwordKey,
	}
}

func durationOr(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

// reported is what the group's status says of a replica. Only of 1045 is it of
// interest when it began.
func reported(status mendv1alpha1.ReplicationGroupStatus, r mendv1alpha1.Replica) *api.Reported {
	for _, each := range status.Replicas {
		if each.Name != r.Name || each.Channel != r.Channel {
			continue
		}
		out := &api.Reported{IOErrno: int(each.IOErrno), Reason: api.Reason(each.Reason)}
		if each.IOErrno == api.AuthErrno && each.Since != nil {
			out.Since = each.Since.UTC()
		}
		return out
	}
	return nil
}

// invalidGroup says what makes a group unusable, or nothing.
func invalidGroup(group api.Group) string {
	switch {
	case group.Primary.Host == "":
		return "spec.primary.host is not set."
	case len(group.Replicas) == 0:
		return "spec.replicas names no replica."
	case group.Admin.Name == "":
		return "spec.adminSecretRef names no Secret."
	case group.Replication.Name == "":
		return "spec.replicationSecretRef names no Secret."
	case group.Threshold < 0:
		return fmt.Sprintf("spec.recovery.errorDurationThreshold (%s) is negative.", group.Threshold)
	case group.DrainTimeout < 0:
		return fmt.Sprintf("spec.recovery.drainTimeout (%s) is negative.", group.DrainTimeout)
	}
	type place struct {
		api.Endpoint
		channel string
	}
	at := map[place]string{}
	for _, r := range group.Replicas {
		// Servers do not tell channels apart by the case of their names.
		here := place{api.Endpoint{Host: NormalHost(r.Host), Port: r.Port}, strings.ToLower(r.Channel)}
		switch other, twice := at[here]; {
		case r.Name == "" || strings.Contains(r.Name, "/"):
			return fmt.Sprintf("spec.replicas has a replica named %q; a name has no slash, and is not empty.", r.Name)
		case r.Host == "":
			return fmt.Sprintf("The host of replica %s is not set.", r.Name)
		case here.Endpoint == (api.Endpoint{Host: NormalHost(group.Primary.Host), Port: group.Primary.Port}):
			return fmt.Sprintf("Replica %s is the primary itself: %s, port %d.", r.Name, r.Host, r.Port)
		case twice:
			return fmt.Sprintf("Replicas %s and %s are one and the same channel of one server: %s, port %d.", other, r.Name, r.Host, r.Port)
		}
		at[here] = r.Name
	}
	return ""
}
