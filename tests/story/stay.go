package story

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// stay keeps everything up until ctx ends.
func (s *story) stay(ctx context.Context) error {
	s.heading("Everything stays up until Ctrl-C")
	s.say("%s", s.guide())
	select {
	case <-ctx.Done():
		s.say("\nStopping.")
		return nil
	case <-s.process.Done():
		return fmt.Errorf("seedmend ended by itself; the end of its log:\n%s", tail(s.process.Log(), 15))
	}
}

// guide says how to play with it, in lines that can be pasted.
func (s *story) guide() string {
	address, port := s.stage.Temporal.Address, strconv.Itoa(s.one.Port)
	alias := ""
	if found, err := exec.LookPath("seedmend"); err != nil || found != s.opts.Binary {
		alias = "  alias seedmend=" + s.opts.Binary + "\n"
	}
	return `  Temporal's UI     ` + s.stage.Temporal.UIURL + `
  seedmend's log    ` + s.process.LogFile() + `
  servers' logs     ` + filepath.Join(s.stage.Lab.Dir(), "logs") + `

In another terminal:

` + alias + `  export KUBECONFIG=` + s.stage.Kube.Kubeconfig + `
  export TEMPORAL_ADDRESS=` + address + ` SEEDMEND_TEMPORAL_UI=` + s.stage.Temporal.UIURL + `
  seedmend status
  seedmend explain ` + namespace + `/user-conflict
  kubectl get databaserequests,secrets,services -n ` + namespace + `
  kubectl describe databaserequest -n ` + namespace + ` adopt
  seedmend status --replicas
  seedmend repair ` + namespace + `/orders --dry-run

A failed one, mended by a person (the root password is in the provider's Secret):

  export MYSQL_PWD=$(kubectl get secret -n seedmend mariadb-1 -o jsonpath='{.data.password}' | base64 -d)
  mariadb -h 127.0.0.1 -P ` + port + ` -u root -e 'GRANT ALL ON access_denied_db.* TO access_denied_user'
  seedmend retry ` + namespace + `/access-denied

One of your own:

  kubectl create secret generic -n ` + namespace + ` mine-seed --from-literal=hostname=localhost --from-literal=port=` + port + ` \
    --from-literal=database=mine --from-literal=username=mine --from-literal=password=$RANDOM$RANDOM
  echo '{"apiVersion": "crd.lagoon.sh/v1alpha1", "kind": "DatabaseRequest", "metadata": {"name": "mine"},
    "spec": {"name": "mine", "type": "mariadb", "selector": "development",
    "seed": {"name": "mine-seed", "namespace": "` + namespace + `"}}}' | kubectl apply -n ` + namespace + ` -f -
  kubectl wait -n ` + namespace + ` --for=condition=Ready databaserequest/mine`
}
