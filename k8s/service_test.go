package k8s_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
)

// F21: every kind of host, and from each one to each other.
func TestServiceForEveryHost(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "hosts")))
	for _, step := range []struct {
		host     string
		port     int
		name     string
		family   discoveryv1.AddressType
		endpoint string
	}{
		{host: "DB.Example.COM.", port: 3306, name: "db.example.com"},
		{host: "10.0.0.5", port: 3306, family: discoveryv1.AddressTypeIPv4, endpoint: "10.0.0.5"},
		{host: "10.0.0.6", port: 3307, family: discoveryv1.AddressTypeIPv4, endpoint: "10.0.0.6"},
		{host: "2001:db8::5", port: 3306, family: discoveryv1.AddressTypeIPv6, endpoint: "2001:db8::5"},
		{host: "2001:DB8:0::6", port: 3306, family: discoveryv1.AddressTypeIPv6, endpoint: "2001:db8::6"},
		{host: "db2", port: 3306, name: "db2"},
		{host: "[2001:db8::5]", port: 3306, family: discoveryv1.AddressTypeIPv6, endpoint: "2001:db8::5"},
		{host: "10.0.0.5", port: 3306, family: discoveryv1.AddressTypeIPv4, endpoint: "10.0.0.5"},
		{host: "db.example.com", port: 3306, name: "db.example.com"},
	} {
		t.Run(step.host, func(t *testing.T) {
			for range 2 { // every step may run twice
				style, err := c.ApplyService(ctx, req, step.host, step.port)
				require.NoError(t, err)
				if step.name != "" {
					require.Equal(t, k8s.StyleExternalName, style)
				} else {
					require.Equal(t, k8s.StyleEndpointSlice, style)
				}
			}
			service, err := c.Kube.CoreV1().Services(req.Namespace).Get(ctx, "mariadb", metav1.GetOptions{})
			require.NoError(t, err)
			ours(t, req, service)
			require.Equal(t, step.name, service.Spec.ExternalName)
			require.Empty(t, service.Spec.Selector)
			slice, err := c.Kube.DiscoveryV1().EndpointSlices(req.Namespace).Get(ctx, "mariadb-seedmend", metav1.GetOptions{})
			if step.name != "" {
				require.Equal(t, corev1.ServiceTypeExternalName, service.Spec.Type)
				require.Empty(t, service.Spec.Ports)
				require.True(t, apierrors.IsNotFound(err), "the other style's leftover")
				return
			}
			require.NoError(t, err)
			ours(t, req, slice)
			require.Equal(t, corev1.ServiceTypeClusterIP, service.Spec.Type)
			require.Equal(t, corev1.ClusterIPNone, service.Spec.ClusterIP)
			require.Len(t, service.Spec.Ports, 1)
			require.Equal(t, int32(step.port), service.Spec.Ports[0].Port)
			require.Equal(t, "mariadb", slice.Labels["kubernetes.io/service-name"])
			require.Equal(t, "seedmend", slice.Labels["endpointslice.kubernetes.io/managed-by"])
			require.Equal(t, step.family, slice.AddressType)
			require.Len(t, slice.Endpoints, 1)
			require.Equal(t, []string{step.endpoint}, slice.Endpoints[0].Addresses)
			require.True(t, *slice.Endpoints[0].Conditions.Ready)
			require.Equal(t, int32(step.port), *slice.Ports[0].Port)
		})
	}
}

// A Service of ours that somebody gave an address cannot be turned; it is made anew.
func TestServiceWithAnAddressIsMadeAnew(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "addressed")))
	_, err := c.ApplyService(ctx, req, "db.example.com", 3306)
	require.NoError(t, err)
	services := c.Kube.CoreV1().Services(req.Namespace)
	service, err := services.Get(ctx, "mariadb", metav1.GetOptions{})
	require.NoError(t, err)
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Ports: []corev1.ServicePort{{Port: 80}}}
	service, err = services.Update(ctx, service, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NotEqual(t, corev1.ClusterIPNone, service.Spec.ClusterIP)

	_, err = c.ApplyService(ctx, req, "10.0.0.5", 3306)
	require.NoError(t, err)
	service, err = services.Get(ctx, "mariadb", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ClusterIPNone, service.Spec.ClusterIP)
	ours(t, req, service)
}

// The styles' own rule agrees with what the API server takes.
func TestHostsThatNoServiceLeadsTo(t *testing.T) {
	c, _ := cluster(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "nowhere")))
	for _, host := range []string{"127.0.0.1", "::1", "0.0.0.0", "169.254.1.1", "fe80::1", "fe80::1%eth0", "under_score.example.com", "-x", "", "a b"} {
		_, err := c.ApplyService(ctxFor(t), req, host, 3306)
		require.Equal(t, api.ProviderHostUnusable, failureOf(t, err).Reason, host)
		require.Contains(t, failureOf(t, err).Message, "provider", host)
	}
	_, err := c.Kube.CoreV1().Services(req.Namespace).Get(ctxFor(t), "mariadb", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}
