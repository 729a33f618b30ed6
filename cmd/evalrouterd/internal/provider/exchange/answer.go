package exchange

import (
	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// Reasons of an answer that cannot be read.
const (
	Malformed     = "malformed"
	Aborted       = "aborted"
	ErrorInAnswer = "error_in_answer" // an error in place of an answer, under status 200
	StreamError   = "stream_error"    // an error within a stream
	StreamCut     = "stream_cut"      // a stream that ended without saying that it was complete
	FinishOther   = "finish_other"    // the provider says that it failed to answer
)

// Usage is reported usage with what became of it.
type Usage struct {
	Tokens *core.Usage
	State  provider.UsageState
}

// NoUsage is that of an answer without any.
func NoUsage() Usage { return Usage{State: provider.UsageMissing} }

// Answer is a complete answer.
func Answer(raw []byte, text string, finish bundle.Finish, u Usage) provider.Outcome {
	return provider.Outcome{Class: provider.Answered, Raw: raw, Text: text, Finish: finish, Usage: u.Tokens, UsageState: u.State}
}

// Refusal is a complete answer by which the provider says no. Its text is
// what the model said before that; reason says whose no it was.
func Refusal(raw []byte, text, reason, message string, finish bundle.Finish, u Usage) provider.Outcome {
	o := Answer(raw, text, finish, u)
	o.Refused, o.Code, o.Reason, o.Message = true, core.CodeRefused, reason, Message(message, provider.Secret{})
	return o
}

// Failed is a complete answer by which the provider says that it failed: it
// is billed, and nothing can be graded.
func Failed(raw []byte, reason, message string, finish bundle.Finish, u Usage) provider.Outcome {
	o := Answer(raw, "", finish, u)
	o.Malformed, o.Code, o.Reason, o.Message = true, core.CodeInvalidOutput, reason, Message(message, provider.Secret{})
	return o
}

// Unreadable is a body that holds no answer. With usage it is paid for;
// without, nobody knows what was done.
func Unreadable(raw []byte, u Usage, reason, message string) provider.Outcome {
	if u.Tokens != nil {
		return Failed(raw, reason, message, bundle.FinishUnknown, u)
	}
	return provider.Outcome{
		Class: provider.Unknown, Raw: raw, Code: core.CodeOutcomeUnknown, Reason: reason, Message: Message(message, provider.Secret{}), UsageState: provider.UsageMissing,
	}
}

// Other is a finish reason that has no name of ours.
func Other(raw string) bundle.Finish { return bundle.Finish("other:" + ID(raw)) }
