package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/seedmend/seedmend/tests/parts"
)

// TemporalOptions of a dev server; the zero value is good.
type TemporalOptions struct {
	Name   string // default temporal, temporal-2, ...
	Port   int    // default, and when taken: any free port
	UIPort int    // the same
	UI     bool   // serve the web UI
	// DBFile keeps the state in a file, so that it outlives a restart.
	DBFile           bool
	SearchAttributes map[string]string // name: type (Keyword, Text, Int, ...)
	// DynamicConfig values are JSON; they win over those of the lab.
	DynamicConfig map[string]string
}

// Temporal is a dev server with the namespace "default".
type Temporal struct {
	*Server
	Address string // host:port of the gRPC frontend
	UIURL   string // empty without UI
}

// StartTemporal starts a dev server.
func (l *Lab) StartTemporal(ctx context.Context, opts TemporalOptions) (*Temporal, error) {
	ctx, leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	binary, err := l.getter.Path(ctx, parts.Temporal)
	if err != nil {
		return nil, err
	}
	t := &Temporal{}
	if t.Server, err = l.server(l.name(opts.Name, "temporal")); err != nil {
		return nil, err
	}
	dir := filepath.Join(l.dir, t.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	port, err := l.ports.pick(opts.Port)
	if err != nil {
		return nil, err
	}
	t.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args := []string{"server", "start-dev", "--ip=127.0.0.1", "--port=" + strconv.Itoa(port), "--log-level=error"}
	if opts.UI {
		uiPort, err := l.ports.pick(opts.UIPort)
		if err != nil {
			return nil, err
		}
		t.UIURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(uiPort))
		args = append(args, "--ui-port="+strconv.Itoa(uiPort))
	} else {
		args = append(args, "--headless")
	}
	if opts.DBFile {
		args = append(args, "--db-filename="+filepath.Join(dir, "temporal.db"))
	}
	args = append(args, pairs("--search-attribute", opts.SearchAttributes)...)
	config := temporalConfig()
	maps.Copy(config, opts.DynamicConfig)
	args = append(args, pairs("--dynamic-config-value", config)...)

	t.command = func() *exec.Cmd {
		cmd := exec.Command(binary, args...)
		cmd.Env = temporalEnv(dir)
		return cmd
	}
	t.ready = t.answers
	return t, t.Start(ctx)
}

// temporalConfig makes the dev server as quick as it can be, and keeps its rate
// limits out of the way.
func temporalConfig() map[string]string {
	return map[string]string{
		"system.enableActivityEagerExecution":  "true",
		"system.enableEagerWorkflowStart":      "true",
		"matching.numTaskqueueReadPartitions":  "1",
		"matching.numTaskqueueWritePartitions": "1",
		"frontend.rps":                         "100000",
		"frontend.namespaceRPS":                "100000",
		"frontend.namespaceRPS.visibility":     "1000",
		"frontend.namespaceCount":              "10000",
		"frontend.persistenceMaxQPS":           "100000",
		"history.rps":                          "100000",
		"history.persistenceMaxQPS":            "100000",
		"matching.rps":                         "100000",
		"matching.persistenceMaxQPS":           "100000",
	}
}

// temporalEnv keeps the user's own Temporal settings out, and the dev server's
// notes out of the user's home.
func temporalEnv(home string) []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "TEMPORAL_") || strings.HasPrefix(e, "XDG_CONFIG_HOME=")
	})
	return append(env, "HOME="+home)
}

func pairs(flag string, values map[string]string) []string {
	var args []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		args = append(args, flag+"="+key+"="+values[key])
	}
	return args
}

// answers wants an answer that went through frontend, history and database.
func (t *Temporal) answers(ctx context.Context) error {
	// The SDK would retry a refused connection for as long as the context lasts.
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return err
	}
	conn.Close()
	c, err := client.DialContext(ctx, client.Options{
		HostPort: t.Address,
		Logger:   log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.DescribeWorkflow(ctx, "seedmend-lab-readiness", "")
	var notFound *serviceerror.NotFound
	if !errors.As(err, &notFound) || strings.Contains(err.Error(), "amespace") {
		return fmt.Errorf("history is not ready: %w", err)
	}
	if t.UIURL != "" {
		return get(ctx, http.DefaultClient, t.UIURL+"/healthz", "")
	}
	return nil
}
