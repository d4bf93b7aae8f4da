package lab

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"

	"github.com/seedmend/seedmend/tests/parts"
)

// startEtcd starts the store of an API server and gives its address.
func (l *Lab) startEtcd(ctx context.Context, name string) (*Server, string, error) {
	binary, err := l.getter.Path(ctx, parts.Etcd)
	if err != nil {
		return nil, "", err
	}
	client, err := l.ports.pick(0)
	if err != nil {
		return nil, "", err
	}
	peer, err := l.ports.pick(0)
	if err != nil {
		return nil, "", err
	}
	clientURL, peerURL := fmt.Sprintf("http://127.0.0.1:%d", client), fmt.Sprintf("http://127.0.0.1:%d", peer)
	s, err := l.server(name)
	if err != nil {
		return nil, "", err
	}
	s.last = true
	s.command = func() *exec.Cmd {
		return exec.Command(binary,
			"--name="+name,
			"--data-dir="+filepath.Join(l.dir, name),
			"--listen-client-urls="+clientURL, "--advertise-client-urls="+clientURL,
			"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL,
			"--initial-cluster="+name+"="+peerURL,
			// The data has to outlive the process, not the machine.
			"--unsafe-no-fsync",
			"--log-level=warn",
		)
	}
	s.ready = func(ctx context.Context) error { return get(ctx, http.DefaultClient, clientURL+"/readyz", "") }
	return s, clientURL, s.Start(ctx)
}
