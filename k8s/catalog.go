package k8s

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// Types of databases.
const (
	TypeMySQL    = "mysql"
	TypeMariaDB  = "mariadb"
	TypePostgres = "postgres"
)

// DefaultPort of a type, 0 for a type that has none here.
func DefaultPort(databaseType string) int {
	switch providerType(databaseType) {
	case TypeMySQL:
		return 3306
	case TypePostgres:
		return 5432
	}
	return 0
}

// providerType is the type of provider that serves a type of request.
func providerType(databaseType string) string {
	if databaseType == TypeMariaDB {
		return TypeMySQL
	}
	return databaseType
}

// Catalog is the connections that the providers name.
type Catalog struct {
	client *Client
	// namespaces are those that DatabaseMySQLProviders are read from.
	namespaces []string
	// read gives all connections, or a soft failure while they are not known.
	read func() ([]offer, error)
}

// offer is a connection and what it is chosen by.
type offer struct {
	api.Connection
	kind     string // mysql or postgres
	selector string
	enabled  bool
}

// Match finds the enabled connections of the request's type and selector that
// lead to this host and port (0 = the type's default). Hosts are compared in
// their normal form. Anything but one result is for the caller to judge; before
// "none" becomes a hard failure, ask again with Live.
func (c *Catalog) Match(databaseType, selector, host string, port int) ([]api.Connection, error) {
	offers, err := c.read()
	if err != nil {
		return nil, err
	}
	if port == 0 {
		port = DefaultPort(databaseType)
	}
	host = NormalHost(host)
	var found []api.Connection
	for _, o := range offers {
		if o.enabled && o.kind == providerType(databaseType) && o.selector == selector && o.Host == host && o.Port == port {
			found = append(found, o.Connection)
		}
	}
	return found, nil
}

// ByReference finds a connection by its name, enabled or not: disabling one
// keeps new databases away, and leaves those that are there.
func (c *Catalog) ByReference(ref api.ConnectionRef) (api.Connection, bool) {
	offers, err := c.read()
	if err != nil {
		return api.Connection{}, false
	}
	for _, o := range offers {
		if o.ConnectionRef == ref {
			return o.Connection, true
		}
	}
	return api.Connection{}, false
}

// Live is the catalog as the API server has it now: one call for each kind and
// namespace. An informer may be a moment behind.
func (c *Catalog) Live(ctx context.Context) (*Catalog, error) {
	return c.client.LiveCatalog(ctx, c.namespaces...)
}

// LiveCatalog reads the providers from the API server, DatabaseMySQLProviders
// from the given namespaces. A cluster without that older kind is fine.
func (c *Client) LiveCatalog(ctx context.Context, mysqlNamespaces ...string) (*Catalog, error) {
	var offers []offer
	providers, err := c.RelationalDatabaseProviders().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, call{"list", v1alpha1.ResourceRelationalDatabaseProviders, "", ""}.failure(err)
	}
	for i := range providers.Items {
		offers = append(offers, offersOf(&providers.Items[i])...)
	}
	for _, namespace := range mysqlNamespaces {
		older, err := c.DatabaseMySQLProviders(namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, call{"list", v1alpha1.ResourceDatabaseMySQLProviders, namespace, ""}.failure(err)
		}
		for i := range older.Items {
			offers = append(offers, mysqlOffersOf(&older.Items[i])...)
		}
	}
	return &Catalog{client: c, namespaces: mysqlNamespaces, read: func() ([]offer, error) { return offers, nil }}, nil
}

func offersOf(p *v1alpha1.RelationalDatabaseProvider) []offer {
	return offers(p.Spec.Connections, offer{
		kind:     p.Spec.Type,
		selector: either(p.Spec.Selector, p.Spec.Scope),
		Connection: api.Connection{
			ProviderKind:  v1alpha1.KindRelationalDatabaseProvider,
			ConnectionRef: api.ConnectionRef{Provider: p.Name},
		},
	}, "")
}

func mysqlOffersOf(p *v1alpha1.DatabaseMySQLProvider) []offer {
	return offers(p.Spec.Connections, offer{
		kind:     TypeMySQL,
		selector: either(p.Spec.Selector, p.Spec.Scope),
		Connection: api.Connection{
			ProviderKind:  v1alpha1.KindDatabaseMySQLProvider,
			ConnectionRef: api.ConnectionRef{Provider: providerName(p.Namespace, p.Name)},
		},
	}, p.Namespace)
}

func offers(connections []v1alpha1.Connection, of offer, namespace string) []offer {
	var out []offer
	for _, c := range connections {
		o := of
		o.enabled = c.Enabled == nil || *c.Enabled
		o.ConnectionRef.Connection = c.Name
		o.Host = NormalHost(c.Hostname)
		if o.Port = int(c.Port); o.Port == 0 {
			o.Port = DefaultPort(of.kind)
		}
		o.AdminUser = c.Username
		o.PasswordSecret = api.SecretRef{Namespace: either(c.PasswordSecretRef.Namespace, namespace), Name: c.PasswordSecretRef.Name}
		o.ReplicaHosts = append([]string(nil), c.ReplicaHostnames...)
		out = append(out, o)
	}
	return out
}

// providerName is a provider's name within api.ConnectionRef: namespace/name
// for the kind that has a namespace, so that the two kinds cannot be confused.
func providerName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func splitProvider(provider string) (namespace, name string, namespaced bool) {
	if namespace, name, namespaced = strings.Cut(provider, "/"); namespaced {
		return namespace, name, true
	}
	return "", provider, false
}
