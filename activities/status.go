package activities

import "github.com/seedmend/seedmend/api"

// statusOf makes the two conditions that clients look at. What is left
// empty stays as an earlier run set it.
func statusOf(req api.Request, reason api.Reason, message string, ready, failed bool) api.Status {
	status := api.Status{
		ObservedGeneration: req.Generation,
		Conditions: []api.Condition{
			{Type: api.ConditionReady, Status: truth(ready), Reason: string(reason), Message: message, ObservedGeneration: req.Generation},
			{Type: api.ConditionError, Status: "False", Reason: string(api.ReasonNoError), ObservedGeneration: req.Generation},
		},
	}
	if failed {
		status.Conditions[1] = api.Condition{Type: api.ConditionError, Status: "True", Reason: string(reason), Message: message, ObservedGeneration: req.Generation}
	}
	return status
}

func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
