package flow

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// LeftOutReasons counts for people, on one line, why tasks stay out of a
// continuation: "3 refused by the model, 1 of unknown outcome".
func LeftOutReasons(c api.ContinuationLeftOut) string {
	out := make([]string, len(c.Reasons))
	for i, r := range c.Reasons {
		out[i] = counted(r.Cells, r.Code)
	}
	return strings.Join(out, ", ")
}

// PendingReasons counts for people, on one line, why tasks wait for a later
// continuation.
func PendingReasons(c api.ContinuationPending) string {
	out := make([]string, len(c.Reasons))
	for i, r := range c.Reasons {
		out[i] = counted(r.Cells, r.Code)
	}
	return strings.Join(out, ", ")
}

func counted(n int, code string) string { return fmt.Sprintf("%d %s", n, taskReason(code)) }

// taskReason is why a continuation does not run a task. One that this version
// does not know stands as the service sent it.
func taskReason(code string) string {
	switch code {
	case "refused":
		return "refused by the model"
	case "cancelled":
		return "stopped by a person"
	case "time_limit":
		return "stopped by the time limit"
	case "not_runnable":
		return "rejected by the provider"
	case "invalid_output":
		return "with an answer that cannot be graded"
	case "unknown_outcome":
		return "of unknown outcome"
	case "partly_answered":
		return "answered in part"
	case "call_in_progress":
		return "whose call is not settled"
	case "saved_response_unavailable":
		return "whose answer is not there"
	}
	return string(plain.Line(strings.ReplaceAll(code, "_", " ")))
}
