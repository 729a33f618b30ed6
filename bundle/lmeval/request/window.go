package request

import "fmt"

// Window asks for the tokens Predict, given Input. Both end together: Input
// holds the context, if any, and all but the last of Predict.
type Window struct{ Input, Predict []int }

// Rolling cuts a text of any length into windows of at most length tokens, in
// which each token is predicted once, after at least context tokens where
// there are any. prefix stands before the first token.
func Rolling(tokens []int, prefix, length, context int) ([]Window, error) {
	if context < 1 || context > length {
		return nil, fmt.Errorf("cut windows of %d tokens with a context of %d", length, context)
	}
	if len(tokens) == 0 {
		return nil, nil
	}
	first := min(length, len(tokens))
	out := []Window{{append([]int{prefix}, tokens[:first-1]...), tokens[:first]}}
	step := length - context + 1
	for at := first; at < len(tokens); {
		n := min(len(tokens)-at, step)
		end := at + n
		out = append(out, Window{tokens[end-length-1 : end-1], tokens[at:end]})
		at = end
	}
	return out, nil
}

// Disjoint drops from Input what Predict repeats.
func (w Window) Disjoint() Window {
	return Window{w.Input[:len(w.Input)-(len(w.Predict)-1)], w.Predict}
}
