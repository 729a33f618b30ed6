package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Result is what a run froze when it ended. It is never changed; another
// presentation reads the same figures.
type Result struct {
	Run         RunID  `json:"run"`
	Version     int    `json:"version"` // from 1
	FinalizedAt Micros `json:"finalized_at"`
	State       State  `json:"state"`
	Reason      Reason `json:"reason"`
	Detail      string `json:"detail,omitempty"`
	Planned     int    `json:"planned"`
	// Outcomes add up to Planned.
	Outcomes Tallies `json:"outcomes"`
	// Unresolved counts tasks with a call whose outcome nobody knows; they are
	// among the provider and judge errors of Outcomes.
	Unresolved int            `json:"unresolved"`
	Metrics    []Metric       `json:"metrics"`
	Money      Money          `json:"money"`
	Warnings   []string       `json:"warnings"`
	Errors     map[string]int `json:"errors"` // by error code
}

// Metric is one figure over the graded tasks.
type Metric struct {
	Key   string  `json:"key"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// N is the figure's own denominator.
	N        int       `json:"n"`
	StdErr   *float64  `json:"std_err,omitempty"`
	Interval *Interval `json:"interval,omitempty"`
}

// Interval is a 95 % confidence interval.
type Interval struct {
	Method string  `json:"method"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
}

// Money is a run's money at its end.
type Money struct {
	Cap      usd.Micro `json:"cap"`
	Charged  usd.Micro `json:"charged"`
	Metered  usd.Micro `json:"metered"`
	Absorbed usd.Micro `json:"absorbed"`
	Waived   usd.Micro `json:"waived"`
}

// Checksum is the SHA-256 of the result's JSON.
func (r Result) Checksum() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // no field of Result can fail to marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
