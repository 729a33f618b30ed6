// Package request says what a model is asked for one document, and reads the
// parts of an answer that lm-eval reads before any filter: stop sequences,
// reasoning, and the log-probabilities of a continuation.
//
// Log-likelihoods exist only on routes that return the log-probabilities of
// the prompt. A chat route cannot serve loglikelihood, loglikelihood_rolling
// or multiple_choice.
package request
