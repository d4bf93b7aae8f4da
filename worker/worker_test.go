package worker_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/worker"
)

func TestReadyMeansEveryPartAndAliveMeansTheProcess(t *testing.T) {
	h := worker.NewHealth()
	var down error
	h.Part("temporal", func() error { return down })
	h.Part("kubernetes", func() error { return nil })
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	assert.Equal(t, http.StatusOK, ask(t, server.URL+"/readyz"))
	down = errors.New("away")
	assert.Equal(t, http.StatusServiceUnavailable, ask(t, server.URL+"/readyz"))
	assert.Equal(t, http.StatusOK, ask(t, server.URL+"/livez"))
	assert.EqualError(t, h.Ready(), "temporal: away")
}

func TestMetricsServeOursAndTemporals(t *testing.T) {
	m, err := worker.NewMetrics()
	require.NoError(t, err)
	m.Temporal.Counter("temporal_request").Inc(1)
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	resp, err := http.Get(server.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(body), "temporal_request"), "the SDK's metrics")
	assert.True(t, strings.Contains(string(body), "go_goroutines"))
}

func ask(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}
