package stat

import (
	"fmt"
	"math"
)

// Assumptions of Detectable that a reader must be told.
const (
	// PlanConfidence is the confidence of the planned two-sided test.
	PlanConfidence = 0.95
	// PlanPower is the chance that the planned test shows a difference of the
	// given size.
	PlanPower = 0.80
	// PlanDiscordance is the share of tasks on which exactly one of the two
	// models is right, as long as the difference itself is not larger.
	PlanDiscordance = 0.25
)

// Plan is a planned two-sided McNemar test of two models on the same tasks.
// The models are taken to disagree on a share D of the tasks; where that is
// less than their difference d, D is d: all disagreement favours one. In the
// normal approximation (R. J. Connor, 1987)
//
//	d √n = z_confidence √D + z_power √(D - d²)
//
// The exact test needs a few tasks more.
type Plan struct {
	Confidence  float64 // 1 - level; for m tests after Holm at most 1 - level/m
	Power       float64 // at least 0.5
	Discordance float64 // above 0, at most 1
}

// Detectable is the smallest difference between two models' shares of right
// answers, on the same n tasks, that a test at 95 % confidence shows with
// 80 % power if a quarter of the tasks tell the two apart. Real pairs of
// models may agree more, then less is needed, or disagree more. It is false
// for n below 4, where no difference at all can be shown.
func Detectable(n int) (d float64, ok bool) {
	d, err := Plan{PlanConfidence, PlanPower, PlanDiscordance}.Detectable(n)
	return d, err == nil
}

// Detectable is the smallest difference d, as a share, that n tasks show. It
// fails with TooFew where not even d = 1 can be shown.
func (p Plan) Detectable(n int) (float64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	d, ok := p.detectable(float64(n))
	if !ok {
		return 0, fmt.Errorf("plan with %d tasks: %w", n, TooFew)
	}
	return d, nil
}

// Tasks is the smallest number of tasks on which a difference of the given
// gap, a share, is shown: the smallest n with Detectable(n) ≤ gap. With the
// gap and the discordance that a comparison found, it is what "needs about n
// paired tasks" says. A gap outside (0,1], or so small that n exceeds 1e15,
// is Impossible.
func (p Plan) Tasks(gap float64) (int, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	if !(gap > 0 && gap <= 1) {
		return 0, fmt.Errorf("plan for a gap of %v: %w", gap, Impossible)
	}
	a, b := p.quantiles()
	disc := max(p.Discordance, gap)
	root := (a*math.Sqrt(disc) + b*math.Sqrt(disc-gap*gap)) / gap
	if root > math.Sqrt(1e15) {
		return 0, fmt.Errorf("plan for a gap of %v: %w", gap, Impossible)
	}
	// Rounding may leave the root a hair to either side of a whole number.
	n := math.Ceil(root * root)
	if p.shows(n-1, gap) {
		n--
	} else if !p.shows(n, gap) {
		n++
	}
	return int(n), nil
}

func (p Plan) shows(n, gap float64) bool {
	d, ok := p.detectable(n)
	return ok && d <= gap
}

func (p Plan) check() error {
	if !(p.Power >= 0.5 && p.Power < 1) || !(p.Discordance > 0 && p.Discordance <= 1) {
		return fmt.Errorf("plan %+v: %w", p, Impossible)
	}
	return checkConfidence(p.Confidence)
}

func (p Plan) quantiles() (a, b float64) { return criticalValue(p.Confidence), Quantile(p.Power) }

func (p Plan) detectable(n float64) (float64, bool) {
	a, b := p.quantiles()
	if n <= a*a {
		return 0, false
	}
	// D fixed: the larger root of (n+b²) d² - 2 a √(nD) d + D (a²-b²) = 0.
	d := math.Sqrt(p.Discordance) * (a*math.Sqrt(n) + b*math.Sqrt(n-a*a+b*b)) / (n + b*b)
	if d <= p.Discordance {
		return d, true
	}
	// D = d: with u = √(1-d), the positive root of
	// (n+b²) u² + 2 a b u + a² - n = 0.
	u := (math.Sqrt(a*a*b*b+(n+b*b)*(n-a*a)) - a*b) / (n + b*b)
	return 1 - u*u, true
}
