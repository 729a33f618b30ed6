package stat

import "math"

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

// Detectable is the smallest difference between two models' shares of right
// answers, on the same n tasks, that a two-sided McNemar test at 95 %
// confidence shows with 80 % power. It is false for n below 4, where no
// difference at all can be shown.
//
// The two models disagree on a share D of the tasks and differ by d. In the
// normal approximation (R. J. Connor, 1987)
//
//	d √n = z(0.975) √D + z(0.80) √(D - d²)
//
// which is solved for d with D = max(0.25, d): a quarter of the tasks, or,
// where that cannot be enough, all disagreement in favour of one model. Real
// pairs of models may agree more, then less is needed, or disagree more.
func Detectable(n int) (d float64, ok bool) {
	return detectable(float64(n), PlanDiscordance, criticalValue(PlanConfidence), Quantile(PlanPower))
}

func detectable(n, discordance, a, b float64) (float64, bool) {
	if n <= a*a {
		return 0, false
	}
	// D fixed: the larger root of (n+b²) d² - 2 a √(nD) d + D (a²-b²) = 0.
	d := math.Sqrt(discordance) * (a*math.Sqrt(n) + b*math.Sqrt(n-a*a+b*b)) / (n + b*b)
	if d <= discordance {
		return d, true
	}
	// D = d: with u = √(1-d), the positive root of
	// (n+b²) u² + 2 a b u + a² - n = 0.
	u := (math.Sqrt(a*a*b*b+(n+b*b)*(n-a*a)) - a*b) / (n + b*b)
	return 1 - u*u, true
}
