package api_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

func TestAWrappedFailureIsTypedAtTheTop(t *testing.T) {
	hard := api.Failf(api.HostBlocked, "blocked").ForOperator("by %s", "us")
	err := api.ToTemporal(fmt.Errorf("a: %w", fmt.Errorf("b: %w", hard)))
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok)
	require.Same(t, err, error(app))
	assert.True(t, app.NonRetryable())
	assert.Equal(t, "HostBlocked", app.Type())

	// ... and again after a wrap around what came back.
	again := api.ToTemporal(fmt.Errorf("parent: %w", err))
	app, ok = errors.AsType[*temporal.ApplicationError](again)
	require.True(t, ok)
	require.Same(t, again, error(app))
	back, ok := api.FromTemporal(again)
	require.True(t, ok)
	assert.Equal(t, "blocked", back.Message)
	assert.Equal(t, "by us", back.Operator)
}

func TestASoftFailureStaysRetryable(t *testing.T) {
	app, ok := errors.AsType[*temporal.ApplicationError](api.ToTemporal(api.Failf(api.ServerBusy, "busy")))
	require.True(t, ok)
	assert.False(t, app.NonRetryable())
}

func TestWhatIsNoFailurePassesThrough(t *testing.T) {
	plain := errors.New("plain")
	assert.Same(t, plain, api.ToTemporal(plain))
	assert.NoError(t, api.ToTemporal(nil))
	_, ok := api.FromTemporal(plain)
	assert.False(t, ok)
	_, ok = api.FromTemporal(temporal.NewApplicationError("x", "SomebodyElses"))
	assert.False(t, ok)
}

// A reason that is declared and not in the table would reach an operator
// without a word on what to do.
func TestEveryReasonIsInTheTable(t *testing.T) {
	declared := 0
	for _, name := range []string{"reason.go", "mendreason.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		declared += declaredReasons(t, file)
	}
	assert.Equal(t, len(api.Table()), declared)
}

// declaredReasons looks up each constant that is no state of success.
func declaredReasons(t *testing.T, file *ast.File) (declared int) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Reason" || strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		declared++
		e, ok := api.Lookup(api.Reason(spec.Names[0].Name))
		if assert.True(t, ok, "%s is not in the table", spec.Names[0].Name) {
			assert.NotEmpty(t, e.Means)
			assert.NotEmpty(t, e.Do)
		}
		return true
	})
	return declared
}

func TestTheRunbookIsThatOfTheTable(t *testing.T) {
	have, err := os.ReadFile("../docs/runbook.md")
	require.NoError(t, err)
	assert.Equal(t, api.Runbook(), string(have), "run make generate")
}

func TestANewerRequestReplacesAnOlderOne(t *testing.T) {
	a := api.Request{UID: "1", Generation: 2}
	assert.False(t, a.Newer(a))
	assert.True(t, api.Request{UID: "1", Generation: 3}.Newer(a))
	assert.False(t, api.Request{UID: "1", Generation: 1}.Newer(a))
	assert.True(t, api.Request{UID: "2", Generation: 1}.Newer(a))
}
