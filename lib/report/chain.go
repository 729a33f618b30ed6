package report

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Chain says of which runs a report is that is of a run with its resumes.
type Chain struct {
	Label    plain.Safe // original + 1 resume
	Version  plain.Safe
	Complete bool
	Runs     []ChainedRun
}

// ChainedRun is one run of a chain and how many tasks it decided.
type ChainedRun struct {
	Run, Status, Why plain.Safe
	Decided, Spent   string
}

// chain adds to the report of a chain's newest run of which runs it is. Money is
// that of all runs; figures and tasks are those of the newest one, which has every
// task as the one run decided it that graded it.
func (r *Report) chain(c api.ChainExport) {
	if b := c.BillingSnapshot; b.ChargedMicrousd != nil {
		r.Money.Metered = b.SpendMicrousd - *b.ChargedMicrousd
	}
	out := Chain{Label: line(c.Label), Version: line(c.Chain.Version), Complete: c.Complete}
	for _, x := range c.Runs {
		out.Runs = append(out.Runs, ChainedRun{
			Run: line(x.RunID), Status: line(string(x.Status)), Why: line(stopped(x.TerminalReason)), Decided: Count(x.DecidedCells), Spent: Dollars(x.SpendMicrousd),
		})
	}
	r.Chain = &out
	r.Provenance = append(r.Provenance, Fact{"Chain", out.Label}, Fact{"Chain SHA-256", line(c.Checksum)})
	if n := len(c.ReuseScoreMismatch); n > 0 {
		r.Warnings = append([]plain.Safe{line(MismatchWords(n))}, r.Warnings...)
	}
}

// MismatchWords warns of reused answers that got another score when they were
// graded again.
func MismatchWords(n int) string {
	if n == 1 {
		return "A reused answer got another score when it was graded again. Its first score stands, and the chain is not complete."
	}
	return fmt.Sprintf("%s reused answers got another score when they were graded again. Their first scores stand, and the chain is not complete.", Count(n))
}

func stopped(reason *string) string {
	if reason == nil || *reason == string(api.StatusCompleted) {
		return ""
	}
	return strings.ReplaceAll(*reason, "_", " ")
}
