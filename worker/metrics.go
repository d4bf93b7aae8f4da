package worker

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

// Metrics holds seedmend's own metrics and those of Temporal's SDK. Labels are
// step names and the reasons of the failure table: bounded by construction.
type Metrics struct {
	registry *prometheus.Registry
	steps    *prometheus.HistogramVec
	// Temporal is handed to the client.
	Temporal client.MetricsHandler
}

// NewMetrics returns metrics in a registry of their own.
func NewMetrics() (*Metrics, error) {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "seedmend_step_seconds",
			Help:    "Duration of a step, by step, by whether it ran inside the workflow task, and by outcome (ok or a reason of the failure table).",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16), // 1 ms to 33 s
		}, []string{"step", "local", "outcome"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.steps)
	reader, err := exporter.New(exporter.WithRegisterer(m.registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	meter := metric.NewMeterProvider(metric.WithReader(reader)).Meter("temporal-sdk-go")
	m.Temporal = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                meter,
		OnError:              func(error) {}, // a metric is never a reason to stop
		UseMonotonicCounters: true,
	})
	return m, nil
}

// Register adds a collector of the caller's.
func (m *Metrics) Register(c prometheus.Collector) error { return m.registry.Register(c) }

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// timing observes every step.
type timing struct {
	interceptor.WorkerInterceptorBase
	metrics *Metrics
}

func (t *timing) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityTiming{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, steps: t.metrics.steps}
}

type activityTiming struct {
	interceptor.ActivityInboundInterceptorBase
	steps *prometheus.HistogramVec
}

func (a *activityTiming) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := activity.GetInfo(ctx)
	start := time.Now()
	out, err := a.Next.ExecuteActivity(ctx, in)
	local := "false"
	if info.IsLocalActivity {
		local = "true"
	}
	a.steps.WithLabelValues(info.ActivityType.Name, local, outcome(err)).Observe(time.Since(start).Seconds())
	return out, err
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if f, known := api.FromTemporal(err); known {
		return string(f.Reason)
	}
	if temporal.IsCanceledError(err) {
		return "canceled"
	}
	return "other"
}
