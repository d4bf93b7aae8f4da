package mend

import (
	"fmt"
	"testing"

	enums "go.temporal.io/api/enums/v1"
)

func dump(t *testing.T, id string) {
	iter := on.Workflows.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		e, err := iter.Next()
		if err != nil {
			t.Log(err)
			return
		}
		extra := ""
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			extra = a.GetActivityType().GetName()
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil {
			extra = fmt.Sprint("attempt ", a.GetAttempt(), " ", a.GetLastFailure().GetMessage())
		}
		t.Log(e.GetEventTime().AsTime().Format("05.000"), e.GetEventId(), e.GetEventType(), extra)
	}
}
