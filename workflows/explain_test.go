package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func TestExplainTellsTheVerdictAndDoesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		script  *script
		verdict api.Verdict
		reason  api.Reason
	}{
		"adopt":          {&script{}, api.VerdictAdopt, ""},
		"create":         {&script{probe: func(int) (api.Facts, error) { return creatable, nil }}, api.VerdictCreate, ""},
		"a hard failure": {&script{probe: func(int) (api.Facts, error) { return api.Facts{Auth: api.LoginOK}, nil }}, "", api.DatabaseMissing},
		"a step that refuses": {&script{admit: func(int, api.AdmitInput) (api.Admission, error) {
			return api.Admission{}, api.Failf(api.SeedInvalid, "x")
		}}, "", api.SeedInvalid},
		"no seed yet":    {&script{admit: func(int, api.AdmitInput) (api.Admission, error) { return api.Admission{SeedPending: true}, nil }}, "", api.SeedSecretNotFound},
		"a soft failure": {&script{probe: func(int) (api.Facts, error) { return api.Facts{}, api.Failf(api.ServerUnreachable, "x") }}, "", api.ServerUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			env := environment(c.script)
			env.ExecuteWorkflow(api.WorkflowExplainSeed, api.ExplainInput{Request: request})
			require.NoError(t, env.GetWorkflowError())
			var e api.Explanation
			require.NoError(t, env.GetWorkflowResult(&e))
			assert.Equal(t, c.verdict, e.Verdict)
			assert.Equal(t, c.reason, e.Reason)
			for _, call := range c.script.calls {
				assert.Contains(t, []string{"Admit", "Probe"}, call)
			}
		})
	}
}
