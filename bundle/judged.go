package bundle

import (
	"errors"
	"fmt"
)

// Judged is a grader that cannot decide alone: it writes what a panel of
// grading models is asked about an answer and reads what they reply. It makes
// no calls. Its Grade always fails with ErrNeedsJudges.
type Judged interface {
	Grader
	// Panel is who judges. Every judge is asked and every reply is needed.
	Panel() Panel
	// Prompt is what one judge is asked. The nonce fences the answer; ErrNonce
	// says that it does not fence this one, and that another must be drawn.
	// The same arguments give the same prompt.
	Prompt(t Task, a Answer, nonce string) ([]Message, error)
	// Verdict decides from the replies of the panel, in its order. A reply that
	// holds no verdict fails with a *JudgeFault, whether or not all replies are
	// there; it is never a score. Without any reply it fails with ErrNeedsJudges,
	// unless the answer alone decides.
	Verdict(t Task, a Answer, replies []Answer) (Verdict, error)
}

// Panel is the judges that a grader declares.
type Panel struct {
	// Routes names a managed model route for each judge, no two alike.
	Routes []string
	// MaxOutputTokens bounds each reply.
	MaxOutputTokens int
}

var (
	// ErrNeedsJudges says that a text alone cannot be graded.
	ErrNeedsJudges = errors.New("the grader needs the replies of its judges")
	// ErrNonce says that a nonce is too short, or stands in what it would fence.
	ErrNonce = errors.New("the nonce does not fence the answer")
)

// JudgeFault is a judge's reply without a usable verdict.
type JudgeFault struct {
	Judge  int // place in the panel, from 0
	Reason string
}

// Error names the judge by its place, counted from 1.
func (f *JudgeFault) Error() string { return fmt.Sprintf("judge %d: %s", f.Judge+1, f.Reason) }
