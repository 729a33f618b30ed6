package sob

import "github.com/evalrouter/evalrouter/bundle/pycompat/number"

// Means are weighted means by metric. Nil stands for a part that was not run.
type Means map[Metric]float64

// Means returns the means of a summary for the leaderboard, which wants those
// of a weighted one.
func (s *Summary) Means() Means {
	out := Means{}
	for i, m := range Summarized() {
		out[m] = s.Metrics[i].Mean
	}
	return out
}

// Standing is a row of SOB's leaderboard.
type Standing struct {
	// Adjusted is Raw times Coverage, the figure that models are ranked by.
	Adjusted float64
	Raw      float64
	// Coverage is the share of the benchmark's 5,324 records that the parts run
	// hold, whether or not each was graded.
	Coverage   float64
	Modalities []Modality
	// Means holds the metrics of Ranked that any part has.
	Means Means
}

// Ranked lists the metrics of the leaderboard: the six that make up "@6", and
// perfect responses.
func Ranked() []Metric {
	return []Metric{ValueAccuracy, Faithfulness, Compliance, PathRecall, StructureCoverage, TypeSafety, Perfect}
}

// Rank computes the leaderboard row of a model from its weighted means by part.
// ok is false if there is nothing to rank. Audio has no part in the rate of
// perfect responses.
func Rank(text, image, audio Means) (s Standing, ok bool) {
	parts := []struct {
		modality Modality
		means    Means
		weight   float64 // the sum of the weights of all its records
		records  int
	}{{Text, text, 13054, 5000}, {Image, image, 602, 209}, {Audio, audio, 343, 115}}
	s.Means = Means{}
	records := 0
	for _, p := range parts {
		if len(p.means) > 0 {
			records += p.records
			s.Modalities = append(s.Modalities, p.modality)
		}
	}
	var all number.Adder
	for _, m := range Ranked() {
		var sum number.Adder
		total := 0.0
		for _, p := range parts {
			v, has := p.means[m]
			if !has || m == Perfect && p.modality == Audio {
				continue
			}
			sum.Add(v * p.weight)
			total += p.weight
		}
		if total > 0 {
			s.Means[m] = sum.Sum() / total
			all.Add(s.Means[m])
		}
	}
	if len(s.Means) == 0 {
		return Standing{}, false
	}
	s.Coverage = float64(records) / 5324
	s.Raw = all.Sum() / float64(len(s.Means))
	s.Adjusted = s.Raw * s.Coverage
	return s, true
}
