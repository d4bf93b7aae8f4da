package parts

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Part is one server program.
type Part struct {
	// Name of the part, of its module under tools/ and of its binary.
	Name string

	getting source
}

// source is where a part comes from.
type source interface {
	path(ctx context.Context, g Getter, p Part) (string, error)
}

// The parts.
var (
	Etcd = Part{"etcd", goTool{
		module: "go.etcd.io/etcd/server/v3", pkg: "go.etcd.io/etcd/server/v3", takes: "1 to 2 min"}}
	Temporal = Part{"temporal", goTool{
		module: "github.com/temporalio/cli", pkg: "github.com/temporalio/cli/cmd/temporal", takes: "6 min",
		ldflags: temporalVersionFlags}}
	KubeAPIServer = Part{"kube-apiserver", goTool{
		module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/kube-apiserver", takes: "10 min",
		ldflags: kubeVersionFlags}}
	MariaDB = Part{"mariadbd", debian{
		packages: []string{"mariadb-server", "mariadb-client"}, service: "mariadb", candidates: []string{"mariadbd"}}}
	PostgreSQL = Part{"postgres", debian{
		packages: []string{"postgresql"}, service: "postgresql", candidates: []string{"/usr/lib/postgresql/*/bin/postgres"}}}
	Chromium = Part{"chromium", debian{
		packages: []string{"chromium"}, candidates: []string{"chromium", "chromium-browser", "google-chrome"}}}
)

// All are the parts that `make deps` gets.
var All = []Part{MariaDB, PostgreSQL, Chromium, Etcd, Temporal, KubeAPIServer}

// Getter gets parts and tells how it goes.
type Getter struct {
	// Progress gets one line for each thing that happens; nil for silence.
	Progress func(line string)
}

// Path is the path of the part's binary. It returns at once when the part is
// there, and gets it otherwise, which can take minutes.
func (g Getter) Path(ctx context.Context, p Part) (string, error) {
	path, err := p.getting.path(ctx, g, p)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.Name, err)
	}
	return path, nil
}

// Path is Getter.Path with the progress on standard error.
func Path(ctx context.Context, p Part) (string, error) { return ToWriter(os.Stderr).Path(ctx, p) }

// ToWriter is a Getter that writes its progress to w.
func ToWriter(w io.Writer) Getter {
	return Getter{Progress: func(line string) { fmt.Fprintln(w, line) }}
}

func (g Getter) say(format string, args ...any) {
	if g.Progress != nil {
		g.Progress(fmt.Sprintf(format, args...))
	}
}
