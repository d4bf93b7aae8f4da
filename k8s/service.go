package k8s

import (
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	discoveryv1ac "k8s.io/client-go/applyconfigurations/discovery/v1"

	"github.com/seedmend/seedmend/api"
)

// ApplyService writes the Service of a request, so that it leads to host, and
// answers the style used: StyleExternalName, or StyleEndpointSlice for an IP
// address. It may be called any number of times and turns one style into the
// other. port (1 to 65535) is told by the EndpointSlice; an ExternalName has
// none. Failures are those of ApplySecret and ServiceStyle.
func (c *Client) ApplyService(ctx context.Context, req api.Request, host string, port int) (style string, err error) {
	style, err = ServiceStyle(host)
	if err != nil {
		return "", err
	}
	host = NormalHost(host)
	found, err := c.applyService(ctx, req, style, host, port)
	switch {
	case err != nil:
		return "", err
	case style == StyleEndpointSlice:
		return style, c.applyEndpoints(ctx, req, host, port)
	case found == Ours: // it may have had the other style
		return style, c.removeEndpoints(ctx, req)
	}
	return style, nil
}

func (c *Client) applyService(ctx context.Context, req api.Request, style, host string, port int) (Ownership, error) {
	spec := corev1ac.ServiceSpec().WithType(corev1.ServiceTypeExternalName).WithExternalName(host)
	if style == StyleEndpointSlice {
		spec = corev1ac.ServiceSpec().WithType(corev1.ServiceTypeClusterIP).WithClusterIP(corev1.ClusterIPNone).
			WithPorts(corev1ac.ServicePort().WithPort(int32(port)).WithProtocol(corev1.ProtocolTCP))
	}
	what := call{"patch", "services", req.Namespace, req.ServiceName}
	o := output[*corev1.Service, *corev1ac.ServiceApplyConfiguration]{
		client: c.Kube.CoreV1().Services(req.Namespace),
		call:   what,
		req:    req,
		config: func(_ Ownership, version string) *corev1ac.ServiceApplyConfiguration {
			return corev1ac.Service(req.ServiceName, req.Namespace).
				WithResourceVersion(version).
				WithLabels(map[string]string{api.LabelService: "true", api.LabelInstance: req.Name}).
				WithOwnerReferences(ownerReference(req)).
				WithSpec(spec)
		},
		judge: func(s *corev1.Service) (Ownership, error) { return ownership(s, req, what) },
	}
	o.mend = func(ctx context.Context, old *corev1.Service, err error) (*corev1.Service, error) {
		// An address that was given to it once cannot be taken back.
		if !invalidField(err, "spec.clusterIP") {
			return nil, err
		}
		return o.replace(ctx, old)
	}
	_, found, err := o.apply(ctx)
	return found, err
}

// endpointsName is the EndpointSlice's name. A service's name has 63 characters
// at most, so that the 253 of this one are never reached.
func endpointsName(req api.Request) string { return req.ServiceName + "-seedmend" }

func (c *Client) applyEndpoints(ctx context.Context, req api.Request, host string, port int) error {
	ip, _ := parseIP(host)
	family := discoveryv1.AddressTypeIPv6
	if ip.Is4() {
		family = discoveryv1.AddressTypeIPv4
	}
	what := call{"patch", "endpointslices", req.Namespace, endpointsName(req)}
	o := output[*discoveryv1.EndpointSlice, *discoveryv1ac.EndpointSliceApplyConfiguration]{
		client: c.Kube.DiscoveryV1().EndpointSlices(req.Namespace),
		call:   what,
		req:    req,
		config: func(_ Ownership, version string) *discoveryv1ac.EndpointSliceApplyConfiguration {
			return discoveryv1ac.EndpointSlice(what.name, req.Namespace).
				WithResourceVersion(version).
				WithLabels(map[string]string{
					discoveryv1.LabelServiceName: req.ServiceName,
					discoveryv1.LabelManagedBy:   api.FieldManager,
					api.LabelInstance:            req.Name,
				}).
				WithOwnerReferences(ownerReference(req)).
				WithAddressType(family).
				WithEndpoints(discoveryv1ac.Endpoint().WithAddresses(ip.String()).
					WithConditions(discoveryv1ac.EndpointConditions().WithReady(true))).
				WithPorts(discoveryv1ac.EndpointPort().WithName("").WithPort(int32(port)).WithProtocol(corev1.ProtocolTCP))
		},
		judge: func(s *discoveryv1.EndpointSlice) (Ownership, error) { return ownership(s, req, what) },
	}
	o.mend = func(ctx context.Context, old *discoveryv1.EndpointSlice, err error) (*discoveryv1.EndpointSlice, error) {
		if !invalidField(err, "addressType") { // IPv4 does not become IPv6
			return nil, err
		}
		return o.replace(ctx, old)
	}
	_, _, err := o.apply(ctx)
	return err
}

// removeEndpoints removes the EndpointSlice that another style left behind.
func (c *Client) removeEndpoints(ctx context.Context, req api.Request) error {
	what := call{"delete", "endpointslices", req.Namespace, endpointsName(req)}
	slices := c.Kube.DiscoveryV1().EndpointSlices(req.Namespace)
	old, err := slices.Get(ctx, what.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return what.failure(err)
	}
	if owner := metav1.GetControllerOf(old); owner == nil || string(owner.UID) != req.UID {
		return nil
	}
	err = slices.Delete(ctx, what.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &old.UID}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return what.failure(err)
}

// invalidField tells whether the API server refused a field of this name, or
// one that begins so.
func invalidField(err error, field string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || !apierrors.IsInvalid(err) {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if strings.HasPrefix(cause.Field, field) {
			return true
		}
	}
	return false
}
