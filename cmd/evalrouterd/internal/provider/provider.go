// Package provider is how models are asked.
//
// An adapter makes at most one request a call and says what is known about
// it afterwards. Uncertainty is data: whether a provider may have done the
// work decides whether a call may ever be made again, so it is part of the
// outcome and never read from an error's text.
package provider

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Request is one call: everything that is sent, and nothing that is not.
type Request struct {
	Target core.Target
	// Key is the provider's credential, "" when it needs none.
	Key       Secret
	Messages  []bundle.Message
	MaxOutput int
	// Reasoning is the choice that the quote was made with.
	Reasoning core.ReasoningChoice
	// Sampling is sent as it is: the quote holds what the target takes.
	Sampling bundle.Sampling
	// Likelihood asks how likely the prompt itself is, token by token, instead
	// of what follows it. Only core.OpenAICompletions can be asked.
	Likelihood bool
	// Gold is the task itself, filled only for simulated targets. It is never
	// serialised or logged.
	Gold *bundle.Task
	// Grader decides the answers of the run. Simulated targets hold theirs to
	// it, so that they are right as often as they say; nil elsewhere.
	Grader bundle.Grader
	// Attempt counts from 1 and lets simulated targets vary.
	Attempt int
	// Body is what Render gave for this request, so that what was hashed is what
	// is sent; nil where it is to be rendered when it is made.
	Body []byte
}

// Rendered is the request's body, made by render where it is not there yet.
func (r Request) Rendered(render func(Request) ([]byte, error)) ([]byte, error) {
	if r.Body != nil {
		return r.Body, nil
	}
	return render(r)
}

// Class is what is known about a call.
type Class string

// Classes of outcome. Only NotSent and Rejected prove that the provider did
// no work.
const (
	Answered Class = "answered" // complete and parsed
	Rejected Class = "rejected" // the provider said no
	NotSent  Class = "not_sent" // no connection was obtained
	Unknown  Class = "unknown"  // may have been processed; no usable answer
)

// Reach says whom a rejection concerns: this task, or every task of the run.
type Reach string

// Reaches of a rejection.
const (
	ThisTask   Reach = "task"       // too long, flagged: leave this task out
	Route      Reach = "route"      // model or parameter: equal for every task
	Connection Reach = "connection" // credential or permission
	Account    Reach = "account"    // the owner's money or quota is gone
	Overload   Reach = "overload"   // rate limit or overload: try later
)

// Outcome is what is known after a call.
type Outcome struct {
	Class Class
	// Reach holds for Rejected.
	Reach Reach
	// Refused says that the provider signalled a refusal to answer.
	Refused bool
	// Malformed says that an answer came that cannot be graded: with usage but
	// unreadable, or declared a failure by the provider itself. The class is
	// Answered, since it is paid for, and the task ends with Code,
	// invalid_output. A Reach of Route says that every task would end so.
	Malformed bool

	Text   string
	Finish bundle.Finish
	// Usage is nil when none was reported, or none that adds up.
	Usage *core.Usage
	// UsageState says why Usage is nil, or that it is not.
	UsageState UsageState
	// Unbilled says that the provider bills nothing for this answer, whatever
	// usage it reports.
	Unbilled bool
	// Tokens is the prompt with its likelihood, for a request that asked.
	Tokens []Token
	// Raw is the body as received, for the record; nil when nothing was.
	Raw []byte

	Status int // HTTP status, 0 without one
	// Code is the task's error code, "" for an answer; Reason is finer, in
	// our words (context_too_long, quota_exhausted, endpoint_refused).
	Code      string
	Reason    string
	Message   string // the provider's sentence, sanitised, at most 500 characters
	Model     string // as echoed
	RequestID string // the provider's id for the call
	// RetryAfter is the provider's hint; HasRetryAfter tells 0 from none.
	RetryAfter    time.Duration
	HasRetryAfter bool
}

// UsageState is what became of the usage of a call.
type UsageState string

// States of usage. Only a reported one is ever billed.
const (
	UsageNone         UsageState = ""             // no answer, so no usage to expect
	UsageReported     UsageState = "reported"     // the numbers add up
	UsageMissing      UsageState = "missing"      // an answer without usage
	UsageInvalid      UsageState = "invalid"      // no numbers of tokens
	UsageInconsistent UsageState = "inconsistent" // numbers that contradict each other
	// UsageByDesign is documented to be billed without being reported.
	UsageByDesign UsageState = "unreported_by_design"
)

// Token is a token of a prompt and the logarithm of its probability after
// those before it; LogProb is nil for the first.
type Token struct {
	Text    string
	LogProb *float64
}

// Adapter speaks one protocol.
type Adapter interface {
	// Call makes at most one request. It returns Unknown, never NotSent, once
	// any byte of the request may have reached the provider.
	Call(context.Context, Request) Outcome
	// Render is the request body as it would be sent: it bounds the input and
	// its hash identifies the call.
	Render(Request) ([]byte, error)
	// Bound is the most input tokens that the request can be billed for.
	Bound(Request) int64
	// Parse reads a recorded answer again. It gives the same text, finish and
	// usage as when it came.
	Parse(raw []byte) Outcome
}

// Teller is an Adapter that reads the text of an ordinary answer by itself, for
// files of very many answers. ok is false for an answer that is not ordinary:
// Parse says what that one is. A text that it tells is the one that Parse gives,
// of an answer that Parse calls Answered.
type Teller interface {
	Text(raw []byte) (text string, ok bool)
}

// Set is the adapters by protocol.
type Set map[string]Adapter

// Secret is a credential that does not print.
type Secret struct{ value string }

// NewSecret wraps a credential.
func NewSecret(v string) Secret { return Secret{v} }

// Reveal is the credential itself, for the one header that carries it.
func (s Secret) Reveal() string { return s.value }

// Empty says that there is none.
func (s Secret) Empty() bool { return s.value == "" }

// String hides the credential.
func (s Secret) String() string { return "[redacted]" }

// Format hides it from every verb of package fmt, %d included.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText hides it from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }
