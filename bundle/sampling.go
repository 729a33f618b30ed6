package bundle

// Sampling is how a benchmark wants answers to be drawn. What is not declared
// is left to the provider.
type Sampling struct {
	// Temperature is nil when none is declared.
	Temperature *float64 `json:"temperature,omitempty"`
	// Stop lists texts that end an answer and are no part of it.
	Stop []string `json:"stop,omitempty"`
}

// IsZero says that nothing is declared.
func (s Sampling) IsZero() bool { return s.Temperature == nil && len(s.Stop) == 0 }

// Sampled is a grader whose configuration declares how answers are drawn.
type Sampled interface{ Sampling() Sampling }

// SamplingOf is what a grader's configuration declares.
func SamplingOf(g Grader) Sampling {
	if s, ok := g.(Sampled); ok {
		return s.Sampling()
	}
	return Sampling{}
}
