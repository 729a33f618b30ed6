package request

import "github.com/evalrouter/evalrouter/bundle/pycompat/str"

// Pair asks how likely Continuation is after Context.
type Pair struct{ Context, Continuation string }

// Form is what decides how a choice is joined to its context.
type Form struct {
	Delimiter     string // the task's target_delimiter
	Chat          bool   // a chat template was applied
	GenPrefix     string // "" for none
	Unconditional bool   // ask each choice without context too, for acc_mutual_info
}

// Choices asks one pair for each choice of a document.
func (f Form) Choices(context string, choices []string) []Pair {
	d := f.delimiter()
	out := make([]Pair, 0, 2*len(choices))
	for _, c := range choices {
		out = append(out, Pair{context, d + c})
	}
	return f.alone(out, choices)
}

// Contexts asks for one target after several contexts, one for each choice: the
// form of tasks whose doc_to_text is the index of a choice.
func (f Form) Contexts(contexts []string, target string, choices []string) []Pair {
	d := f.delimiter()
	out := make([]Pair, 0, 2*len(contexts))
	for _, c := range contexts {
		out = append(out, Pair{c, d + target})
	}
	return f.alone(out, choices)
}

func (f Form) alone(out []Pair, choices []string) []Pair {
	if f.Unconditional {
		for _, c := range choices {
			out = append(out, Pair{"", f.delimiter() + c})
		}
	}
	return out
}

// delimiter is dropped after a chat template, unless the answer follows a
// prefix that does not end in white space.
func (f Form) delimiter() string {
	if !f.Chat {
		return f.Delimiter
	}
	last, n := str.DecodeLastRune(f.GenPrefix)
	if n > 0 && !str.Of(last).Space() {
		return f.Delimiter
	}
	return ""
}

// Split moves the white space at the end of the context to the continuation,
// which is how both are cut into tokens.
func (p Pair) Split() Pair {
	context := str.RStrip(p.Context)
	return Pair{context, p.Context[len(context):] + p.Continuation}
}
