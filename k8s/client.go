package k8s

import (
	"net/http"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// UserAgent names seedmend in the API server's audit log.
const UserAgent = "seedmend"

// Client talks to one cluster.
type Client struct {
	// Kube serves the built-in kinds.
	Kube kubernetes.Interface

	// ClusterDomain ends the names of pods; empty is cluster.local. Set it before
	// the client is used.
	ClusterDomain string

	crd  rest.Interface // crd.lagoon.sh
	mend rest.Interface // seedmend.dev
	// theirs serves kinds that seedmend has no types of.
	theirs dynamic.Interface
	// known finds a request in the informer of this process, where there is one.
	known      atomic.Pointer[func(namespace, name string) *v1alpha1.DatabaseRequest]
	clusterUID atomic.Pointer[string]
	// writing holds a turn for each group whose status is written.
	writing sync.Map
}

// Clients of seedmend's kinds.
type (
	DatabaseRequests            = *gentype.ClientWithList[*v1alpha1.DatabaseRequest, *v1alpha1.DatabaseRequestList]
	RelationalDatabaseProviders = *gentype.ClientWithList[*v1alpha1.RelationalDatabaseProvider, *v1alpha1.RelationalDatabaseProviderList]
	DatabaseMySQLProviders      = *gentype.ClientWithList[*v1alpha1.DatabaseMySQLProvider, *v1alpha1.DatabaseMySQLProviderList]
	ReplicationGroups           = *gentype.ClientWithList[*mendv1alpha1.ReplicationGroup, *mendv1alpha1.ReplicationGroupList]
)

var (
	scheme         = runtime.NewScheme()
	codecs         = serializer.NewCodecFactory(scheme)
	parameterCodec = runtime.NewParameterCodec(scheme)
)

func init() {
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // for Status
	must(v1alpha1.AddToScheme(scheme))
	must(mendv1alpha1.AddToScheme(scheme))
}

// New makes a client. It dials nothing. cfg is left as it is.
func New(cfg *rest.Config) (*Client, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = UserAgent
	if cfg.QPS == 0 {
		// The API server shares itself out fairly (API Priority and Fairness, on by
		// default since Kubernetes 1.20); a limit of our own would only hold up the
		// drain of a backlog, at eight calls a request.
		cfg.QPS = -1
	}
	if cfg.WarningHandler == nil && cfg.WarningHandlerWithContext == nil {
		cfg.WarningHandler = rest.NoWarnings{} // nobody but the author of a manifest can act on them
	}
	transport, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfigAndClient(cfg, transport)
	if err != nil {
		return nil, err
	}
	crd, err := typed(cfg, v1alpha1.GroupVersion, transport)
	if err != nil {
		return nil, err
	}
	mend, err := typed(cfg, mendv1alpha1.GroupVersion, transport)
	if err != nil {
		return nil, err
	}
	theirs, err := dynamic.NewForConfigAndClient(cfg, transport)
	if err != nil {
		return nil, err
	}
	return &Client{Kube: kube, crd: crd, mend: mend, theirs: theirs}, nil
}

// typed is a client of one group's kinds.
func typed(cfg *rest.Config, group schema.GroupVersion, transport *http.Client) (rest.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion = &group
	cfg.APIPath = "/apis"
	cfg.NegotiatedSerializer = codecs.WithoutConversion()
	return rest.RESTClientForConfigAndClient(cfg, transport)
}

// DatabaseRequests of one namespace, or of all for "".
func (c *Client) DatabaseRequests(namespace string) DatabaseRequests {
	return gentype.NewClientWithList(v1alpha1.ResourceDatabaseRequests, c.crd, parameterCodec, namespace,
		func() *v1alpha1.DatabaseRequest { return &v1alpha1.DatabaseRequest{} },
		func() *v1alpha1.DatabaseRequestList { return &v1alpha1.DatabaseRequestList{} })
}

// RelationalDatabaseProviders of the cluster.
func (c *Client) RelationalDatabaseProviders() RelationalDatabaseProviders {
	return gentype.NewClientWithList(v1alpha1.ResourceRelationalDatabaseProviders, c.crd, parameterCodec, "",
		func() *v1alpha1.RelationalDatabaseProvider { return &v1alpha1.RelationalDatabaseProvider{} },
		func() *v1alpha1.RelationalDatabaseProviderList { return &v1alpha1.RelationalDatabaseProviderList{} })
}

// DatabaseMySQLProviders of one namespace, or of all for "".
func (c *Client) DatabaseMySQLProviders(namespace string) DatabaseMySQLProviders {
	return gentype.NewClientWithList(v1alpha1.ResourceDatabaseMySQLProviders, c.crd, parameterCodec, namespace,
		func() *v1alpha1.DatabaseMySQLProvider { return &v1alpha1.DatabaseMySQLProvider{} },
		func() *v1alpha1.DatabaseMySQLProviderList { return &v1alpha1.DatabaseMySQLProviderList{} })
}

// ReplicationGroups of one namespace, or of all for "".
func (c *Client) ReplicationGroups(namespace string) ReplicationGroups {
	return gentype.NewClientWithList(mendv1alpha1.ResourceReplicationGroups, c.mend, parameterCodec, namespace,
		func() *mendv1alpha1.ReplicationGroup { return &mendv1alpha1.ReplicationGroup{} },
		func() *mendv1alpha1.ReplicationGroupList { return &mendv1alpha1.ReplicationGroupList{} })
}
