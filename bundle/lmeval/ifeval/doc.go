// Package ifeval checks whether a text follows IFEval's verifiable
// instructions, strictly and loosely.
//
// Twenty of the twenty-five instructions are exact. english_capital and
// english_lowercase are exact once the language is known to be English, which
// the reference guesses with a statistical detector; a Checker does them only
// if it is told to assume English. number_sentences, capital_word_frequency
// and response_language need that detector or a trained tokenizer and are
// refused.
//
// The reference draws a missing argument at random, so that the same text can
// pass once and fail once. Here a missing argument is an error.
package ifeval

import (
	"errors"
	"fmt"
)

// ErrUnsupported marks instructions that cannot be checked exactly.
var ErrUnsupported = errors.New("unsupported instruction")

func unsupported(id, why string) error { return fmt.Errorf("%w %s: %s", ErrUnsupported, id, why) }
