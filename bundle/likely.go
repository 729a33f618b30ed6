package bundle

// Likely is a grader that reads no text of a model: it compares how likely the
// model finds texts that it is shown. One task is several requests, one for
// each Ask, and its answer is what all of them came to. It makes no calls.
type Likely interface {
	Grader
	// Asks lists what is asked about a task, in order. The same task gives the
	// same list, which is never empty.
	Asks(Task) ([]Ask, error)
	// Read takes the log probability that was asked for out of a recorded
	// response: the JSON of a completions route that echoed the prompt. It fails
	// when the response does not hold it, or holds other tokens than the
	// prompt's.
	Read(Ask, []byte) (LogProb, error)
	// Text writes what was read, one for each Ask, as the answer that Grade
	// decides.
	Text(Task, []LogProb) (string, error)
}

// LikelyChoices is the kind of the grader that asks about each choice of a task
// by itself. It is the one kind that manifests know: their prompts need not show
// the choices.
const LikelyChoices = "lmeval/multiple_choice"

// Ask asks how likely Continuation is after Context.
type Ask struct{ Context, Continuation string }

// Prompt is the text that a model is shown.
func (a Ask) Prompt() string { return a.Context + a.Continuation }

// LogProb is the answer to an Ask: the sum of the natural logarithms of the
// probabilities of the continuation's tokens, and whether each of them was the
// likeliest at its place.
type LogProb struct {
	Sum    float64
	Greedy bool
}
