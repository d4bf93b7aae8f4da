package k8s

import (
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/seedmend/seedmend/api"
)

// Styles of a request's Service.
const (
	StyleExternalName = "ExternalName"
	// StyleEndpointSlice is a headless Service without selector, beside an
	// EndpointSlice: an ExternalName cannot be an IP address.
	StyleEndpointSlice = "EndpointSlice"
)

// NormalHost is the form in which hosts are compared and published: trimmed,
// in lower case, without a trailing dot, an IP address in its usual spelling.
func NormalHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(host)), ".")
	if ip, ok := parseIP(host); ok {
		return ip.String()
	}
	return host
}

func parseIP(host string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}, false
	}
	return ip.Unmap(), true
}

// ServiceStyle tells how a Service can lead to a host, and fails for a host
// that no Service can lead to: it asks nothing but the host's spelling, so it
// can be called before anything is done.
func ServiceStyle(host string) (string, error) {
	host = NormalHost(host)
	if ip, ok := parseIP(host); ok {
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
			return "", api.Failf(api.ProviderHostUnusable, "The provider's address %s cannot be reached from a pod, and the Kubernetes API takes no such endpoint.", host)
		}
		return StyleEndpointSlice, nil
	}
	if len(validation.IsDNS1123Subdomain(host)) > 0 {
		return "", api.Failf(api.ProviderHostUnusable, "The provider's hostname %q is no DNS name that a Service can lead to.", host)
	}
	return StyleExternalName, nil
}
