package engine

import (
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// action is what to do after a call.
type action int

const (
	record  action = iota // an answer: keep it and settle its money
	again                 // provably no work was done: try again after a delay
	giveUp                // provably no work, and trying again cannot help this task
	replan                // provably no work, and the run must stop: the task stays to be run
	park                  // provably no work, and the whole run must wait for a long time
	outage                // nothing leaves this machine: the run must wait until the endpoint is reached again
	unknown               // may have been processed: never again by itself
)

// decision is an action with its particulars.
type decision struct {
	do    action
	delay time.Duration
	// stop is the reason to end the run.
	stop core.Reason
	code string
	// who is "judge NAME: " where a judge was asked.
	who string
}

// ofJudge is the decision where a judge was asked: what would stop the run for
// want of the model stops it for want of the judge, and a rejection of the task
// leaves it without a verdict.
func (d decision) ofJudge(t core.Target) decision {
	d.who = "judge " + t.Name() + ": "
	if d.stop != "" {
		d.stop = core.JudgesUnavailable
	}
	if d.do == giveUp {
		refused := d.code == core.CodeRefused
		if d.code = core.CodeJudgeRejected; refused {
			d.code = core.CodeJudgeRefused
		}
	}
	return d
}

// Bounds of in-run retries of one task. They apply where provably no work was
// done. A provider that is still overloaded, or not reached, at the end of them
// parks the run; only the run's time limit or a person ends the wait.
const (
	maxNotSent    = 5
	maxRetryTime  = 15 * time.Minute
	maxRetryCalls = 40
	// maxHint is the longest a provider may ask a single call to wait. Beyond
	// it an early retry would only be refused again, so the run waits instead.
	maxHint    = 2 * time.Minute
	firstDelay = time.Second
	maxDelay   = time.Minute
)

// decide says what follows from a call's outcome: attempt counts from 1,
// spent is the time since the first attempt, jitter is in [0,1). It is the
// only place where a call is decided to be made again.
func decide(o provider.Outcome, attempt int, spent time.Duration, jitter float64) decision {
	switch o.Class {
	case provider.Answered:
		return decision{do: record}
	case provider.NotSent:
		if attempt >= maxNotSent {
			return decision{do: outage}
		}
		return decision{do: again, delay: backoff(attempt, jitter)}
	case provider.Rejected:
		return decideRejected(o, attempt, spent, jitter)
	}
	return decision{do: unknown}
}

func decideRejected(o provider.Outcome, attempt int, spent time.Duration, jitter float64) decision {
	switch o.Reach {
	case provider.Overload:
		delay := backoff(attempt, jitter)
		if o.HasRetryAfter && o.RetryAfter > maxHint {
			return decision{do: park, delay: o.RetryAfter}
		}
		if o.HasRetryAfter {
			delay = max(o.RetryAfter, delay)
		}
		if spent+delay > maxRetryTime || attempt >= maxRetryCalls {
			return decision{do: park, delay: max(delay, maxDelay)}
		}
		return decision{do: again, delay: delay}
	case provider.Connection:
		if codeOr(o.Code, core.CodeCredentialRejected) == core.CodeCredentialRejected {
			return decision{do: replan, stop: core.CredentialFailed}
		}
		return decision{do: replan, stop: core.ProviderDown}
	case provider.Route, provider.Account:
		return decision{do: replan, stop: core.ProviderDown}
	}
	if o.Refused {
		return decision{do: giveUp, code: core.CodeRefused}
	}
	return decision{do: giveUp, code: codeOr(o.Code, core.CodeProviderError)}
}

func codeOr(code, otherwise string) string {
	if code == "" {
		return otherwise
	}
	return code
}

// backoff doubles from firstDelay to maxDelay and adds up to as much again,
// so that tasks that failed together do not return together.
func backoff(attempt int, jitter float64) time.Duration {
	d := firstDelay << min(attempt-1, 10)
	d = min(d, maxDelay)
	return d/2 + time.Duration(float64(d/2)*jitter)
}
