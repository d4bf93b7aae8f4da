package lab

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/tests/parts"
)

// User is an identity that the API server knows by its token. What it may do
// is a matter of RBAC; the group system:masters may do everything.
type User struct {
	Name   string
	Token  string // default random
	Groups []string
}

// KubeOptions of an API server; the zero value is good.
type KubeOptions struct {
	Name  string // default kube-apiserver, kube-apiserver-2, ...
	Port  int    // default, and when taken: any free port
	Users []User // beside the administrator
	Args  []string
}

// Kube is an API server with RBAC, on an etcd of its own. Its Stop, Start,
// Pause and the like are those of the API server; Etcd has its own.
//
// There is no controller manager: a deleted namespace stays in Terminating, and
// nothing collects what a deleted owner leaves behind.
type Kube struct {
	*Server
	Etcd       *Server
	URL        string
	Config     *rest.Config // of a cluster-admin
	Kubeconfig string       // the same as a file

	ca    *authority
	dir   string
	users []User
}

const kubeAdmin = "lab-admin"

// StartKube starts etcd and an API server.
func (l *Lab) StartKube(ctx context.Context, opts KubeOptions) (*Kube, error) {
	ctx, leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	binary, err := l.getter.Path(ctx, parts.KubeAPIServer)
	if err != nil {
		return nil, err
	}
	k := &Kube{}
	if k.Server, err = l.server(l.name(opts.Name, "kube-apiserver")); err != nil {
		return nil, err
	}
	k.dir = filepath.Join(l.dir, k.Name)
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return nil, err
	}
	port, err := l.ports.pick(opts.Port)
	if err != nil {
		return nil, err
	}
	k.URL = "https://127.0.0.1:" + strconv.Itoa(port)
	if k.ca, err = l.ca(); err != nil {
		return nil, err
	}
	k.users = append([]User{{Name: kubeAdmin, Groups: []string{"system:masters"}}}, opts.Users...)
	for i := range k.users {
		if k.users[i].Token == "" {
			k.users[i].Token = rand.Text()
		}
	}
	args, err := k.writeFiles(port)
	if err != nil {
		return nil, err
	}

	etcd, etcdURL, err := l.startEtcd(ctx, l.name("", "etcd"))
	if err != nil {
		return nil, err
	}
	k.Etcd = etcd
	args = append(args, "--etcd-servers="+etcdURL)
	args = append(args, opts.Args...)
	k.command = func() *exec.Cmd { return exec.Command(binary, args...) }
	client, err := rest.HTTPClientFor(k.Config)
	if err != nil {
		return nil, err
	}
	k.ready = func(ctx context.Context) error { return k.answers(ctx, client) }
	k.cleanup = func() error { client.CloseIdleConnections(); return nil }
	return k, k.Start(ctx)
}

// answers wants the server ready, and the namespace that everybody expects.
func (k *Kube) answers(ctx context.Context, client *http.Client) error {
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		if err := get(ctx, client, k.URL+path, ""); err != nil {
			return err
		}
	}
	return nil
}

// ConfigFor is the client configuration of one of the Users.
func (k *Kube) ConfigFor(user string) (*rest.Config, error) {
	for _, u := range k.users {
		if u.Name == user {
			return k.config(u), nil
		}
	}
	return nil, fmt.Errorf("%s knows no user %q: add it to KubeOptions.Users", k.Name, user)
}

func (k *Kube) config(u User) *rest.Config {
	return &rest.Config{
		Host:            k.URL,
		BearerToken:     u.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: k.ca.pem},
		QPS:             1000,
		Burst:           2000,
	}
}
