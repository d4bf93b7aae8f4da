package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/seedmend/seedmend/api"
)

// How often a Temporal that is not there yet is looked for, and how often that is logged.
const (
	connectPause    = 2 * time.Second
	connectLogPause = time.Minute
)

// ClientOptions reads Temporal's own settings: environment, profile, file.
func ClientOptions(log *slog.Logger, metrics *Metrics) (client.Options, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return options, fmt.Errorf("read Temporal's settings: %w", err)
	}
	options.Logger = newLogger(log)
	if metrics != nil {
		options.MetricsHandler = metrics.Temporal
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	return options, nil
}

// Connect waits until Temporal answers and its namespace exists. It returns an
// error only when ctx ends.
func Connect(ctx context.Context, options client.Options, log *slog.Logger) (client.Client, error) {
	var last time.Time
	for {
		c, err := dial(ctx, options)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if time.Since(last) >= connectLogPause {
			last = time.Now()
			log.Warn("waiting for Temporal", "address", options.HostPort, "namespace", options.Namespace, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(connectPause):
		}
	}
}

func dial(ctx context.Context, options client.Options) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, err
	}
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: options.Namespace})
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// EnsureSearchAttributes registers what is missing. It answers false, with the
// cause in the log, where that is not allowed: everything but the search works
// without them.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string, log *slog.Logger) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	operator := c.OperatorService()
	there, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		log.Warn("search attributes are not used: they cannot be listed", "error", err)
		return false
	}
	missing := map[string]enums.IndexedValueType{}
	for _, name := range api.SearchAttributes() {
		if kind, ok := there.GetCustomAttributes()[name]; !ok {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		} else if kind != enums.INDEXED_VALUE_TYPE_KEYWORD {
			log.Warn("search attributes are not used: one has another type than Keyword", "attribute", name, "type", kind.String())
			return false
		}
	}
	if len(missing) == 0 {
		return true
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	var exists *serviceerror.AlreadyExists
	if err != nil && !errors.As(err, &exists) {
		log.Warn("search attributes are not used: they cannot be registered", "error", err)
		return false
	}
	return true
}
