package core

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Kinds of target.
const (
	Managed    = "managed"
	Connection = "connection"
)

// Protocols of provider adapters.
const (
	OpenAIChat        = "openai_chat"
	OpenAICompletions = "openai_completions"
	OpenAIResponses   = "openai_responses"
	AnthropicMessages = "anthropic_messages"
	GoogleGenerate    = "google_generate"
	PracticeProtocol  = "practice"
)

// Target is what answers the tasks, frozen into a quote: a managed route or a
// connection, at one revision.
type Target struct {
	Kind         string       `json:"kind"`
	RouteID      RouteID      `json:"route_id,omitempty"`
	ConnectionID ConnectionID `json:"connection_id,omitempty"`
	ModelID      string       `json:"model_id"`
	DisplayName  string       `json:"display_name"`
	Provider     string       `json:"provider"`
	Protocol     string       `json:"protocol"`
	Revision     int          `json:"revision"`
	BaseURL      string       `json:"base_url,omitempty"`
	// Simulated targets never leave the machine and show nothing about a model.
	Simulated bool `json:"simulated,omitempty"`
	// JudgeOnly routes grade answers and cannot be evaluated themselves.
	JudgeOnly bool `json:"judge_only,omitempty"`
	// ContextWindow and MaxOutputTokens are limits in tokens.
	ContextWindow   int `json:"context_window"`
	MaxOutputTokens int `json:"max_output_tokens"`
	// Priced says that Prices hold; a connection without declared rates is
	// not priced, and the cap cannot bound what its provider bills.
	Priced bool   `json:"priced"`
	Prices Prices `json:"prices"`
	// Ceiling is the most calls in flight that the operator or owner allows;
	// Auto is what "auto" takes.
	Ceiling int `json:"ceiling"`
	Auto    int `json:"auto"`
	// OutputBound says what the output limit of a request bounds.
	OutputBound OutputLimit `json:"output_bound,omitempty"`
	// UnbilledRefusals says that the provider bills nothing for a request that
	// it refuses before any output, whatever usage it reports.
	UnbilledRefusals bool `json:"unbilled_refusals,omitempty"`
	// Stream asks for every answer as a stream, not only for long ones.
	Stream bool `json:"stream,omitempty"`
	// Reasoning is what a caller may choose; the zero value offers nothing.
	Reasoning Reasoning `json:"reasoning,omitzero"`
	Status    string    `json:"status"` // active or retired
	// Offers lists abilities that some benchmarks need, such as OffersLogprobs.
	Offers []string `json:"offers,omitempty"`
}

// OffersLogprobs is the ability to say how likely the text of a prompt is,
// token by token.
const OffersLogprobs = "logprobs"

// OffersTemperature and OffersStop are the abilities to draw answers with a given
// temperature, and to end them at given texts. Models that reason often refuse
// both, so nothing is sent to a target that is not known to take it.
const (
	OffersTemperature = "temperature"
	OffersStop        = "stop"
)

// maxStops is how many stop texts every protocol takes.
const maxStops = 4

// Sends is the part of a benchmark's sampling that is sent to the target. A
// temperature goes with no chosen reasoning, and no stop text is white space
// alone: providers refuse both. Stops that are not sent are applied to the
// answer all the same, by the benchmark's grader.
func (t Target) Sends(s bundle.Sampling, c ReasoningChoice) (out bundle.Sampling) {
	if slices.Contains(t.Offers, OffersTemperature) && !c.Thinks() {
		out.Temperature = s.Temperature
	}
	if t.Protocol == OpenAIResponses || !slices.Contains(t.Offers, OffersStop) {
		return out
	}
	for _, stop := range s.Stop {
		if len(out.Stop) < maxStops && strings.TrimSpace(stop) != "" {
			out.Stop = append(out.Stop, stop)
		}
	}
	return out
}

// OutputLimit says which output tokens a request's limit bounds.
type OutputLimit string

// Output limits of a route.
const (
	BoundsTotal   OutputLimit = ""             // all that is billed, reasoning included
	BoundsVisible OutputLimit = "visible_only" // reasoning comes on top, up to the context window
	BoundsNothing OutputLimit = "none"         // the server ignores it: such a route is not sold under a cap
)

// ResponsesMinOutput is the smallest output limit that OpenAIResponses takes. A
// smaller one is sent as this.
const ResponsesMinOutput = 16

// BilledOutput is the most output tokens that a request with this limit can
// be billed for; ok is false when nothing bounds it.
func (t Target) BilledOutput(limit int) (n int64, ok bool) {
	if t.Protocol == OpenAIResponses {
		limit = max(limit, ResponsesMinOutput)
	}
	switch t.OutputBound {
	case BoundsTotal:
		return int64(limit), true
	case BoundsVisible:
		return int64(max(limit, t.ContextWindow)), true
	}
	return 0, false
}

// Worst is the most that one call can cost whose input has at most inBound
// tokens and whose request limits its output; 0 where nothing is priced. out
// is the output that the amount covers.
func (t Target) Worst(inBound int64, limit int) (w usd.Micro, out int64, err error) {
	out, bounded := t.BilledOutput(limit)
	switch {
	case !t.Priced:
		return 0, max(out, int64(limit)), nil
	case !bounded && !t.Prices.Free():
		return 0, 0, Refuse(UnboundedModelCost, "this model ignores the limit on its output, so no cap can bound what a task costs; nothing was started")
	}
	if w, err = t.Prices.Worst(inBound, out); err != nil {
		return 0, 0, Refuse(UnboundedModelCost, "the worst case of one call cannot be computed at these prices")
	}
	return w, max(out, int64(limit)), nil
}

// Metered says that spend is billed by somebody else: it counts against the
// cap, and no credit is held or charged for it.
func (t Target) Metered() bool { return t.Kind == Connection }

// Name is the target's id for people: the route, or connection:<id>.
func (t Target) Name() string {
	if t.Kind == Connection {
		return "connection:" + string(t.ConnectionID)
	}
	return string(t.RouteID)
}

// ConnectionInfo is a user's own endpoint as the store keeps it. SealedKey is
// ciphertext; the key itself is never here.
type ConnectionInfo struct {
	ID              ConnectionID
	Workspace       WorkspaceID
	Name            string
	BaseURL         string
	ModelID         string
	Protocol        string
	Revision        int
	SealedKey       []byte
	KeyVersion      int
	MaxOutputTokens int
	ContextWindow   int
	MaxConcurrency  int
	PriceIn         *int64 // micro-dollars for a million tokens
	PriceOut        *int64
	Check           CheckResult
	CreatedAt       Micros
	CheckedAt       Micros // 0 = never at this revision
	DisabledAt      Micros // 0 = enabled
}

// CheckResult is what the last check of a connection found.
type CheckResult struct {
	Status      string `json:"status,omitempty"` // ok or failed
	ErrorCode   string `json:"error_code,omitempty"`
	Message     string `json:"message,omitempty"`
	LatencyMS   int64  `json:"latency_ms,omitempty"`
	ModelEcho   string `json:"model_echo,omitempty"`
	SentRequest bool   `json:"sent_request,omitempty"`
	// Offers lists abilities that the endpoint was found to have.
	Offers []string `json:"offers,omitempty"`
	At     Micros   `json:"at,omitempty"`
}
