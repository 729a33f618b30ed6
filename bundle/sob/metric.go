package sob

// Metric is a figure of one record. The order is that of a record's row.
type Metric uint8

// The metrics of a record, by their names in SOB's files.
const (
	ParseSuccess      Metric = iota // json_parse_success
	RootStructured                  // json_root_structured
	SchemaValid                     // schema_valid_input
	Compliance                      // schema_compliance
	ValueAccuracy                   // leaf_value_em
	Faithfulness                    // value_token_f1
	PathRecall                      // hier_path_recall
	StructureCoverage               // path_set_f1
	TypeSafety                      // type_precision
	RequiredKeyRecall               // required_key_recall
	Perfect                         // strict_json_em
	metricCount
)

// String is the name of the metric in SOB's files.
func (m Metric) String() string {
	return [metricCount]string{
		"json_parse_success", "json_root_structured", "schema_valid_input", "schema_compliance", "leaf_value_em",
		"value_token_f1", "hier_path_recall", "path_set_f1", "type_precision", "required_key_recall", "strict_json_em",
	}[m]
}

// Title is the name that SOB shows.
func (m Metric) Title() string {
	return [metricCount]string{
		"JSON Parse Success", "Structured JSON Root", "Schema Valid Input", "JSON Pass Rate", "Truth Score",
		"Faithfulness Score", "Path Recall", "Structure Coverage", "Type Safety", "Required Key Recall", "Perfect Response Rate",
	}[m]
}

// Summarized lists the metrics of a summary, in the order in which they draw
// from its generator. Required key recall is not among them.
func Summarized() []Metric {
	return []Metric{ParseSuccess, RootStructured, SchemaValid, Compliance, ValueAccuracy, Faithfulness, PathRecall,
		StructureCoverage, TypeSafety, Perfect}
}

// Category is a named mean of metrics.
type Category struct {
	Title   string
	Metrics []Metric
}

// Categories lists SOB's categories in the order in which they draw from the
// generator, behind the metrics.
func Categories() []Category {
	return []Category{
		{"Long Context Extraction", []Metric{ValueAccuracy, Faithfulness, PathRecall}},
		{"Complex Schema Handling", []Metric{Compliance, StructureCoverage, TypeSafety}},
		{"Multi-Context Linking", []Metric{ValueAccuracy, Faithfulness}},
		{"Output Contract Reliability", []Metric{ParseSuccess, Compliance, TypeSafety}},
		{"Strict Precision", []Metric{Perfect}},
	}
}

// Modality is the part of the benchmark that a record is from. It decides the
// coverage gate.
type Modality string

// The three parts of SOB.
const (
	Text  Modality = "text"
	Image Modality = "image"
	Audio Modality = "audio"
)

// coverageGate is the factor on values for a given structure coverage.
func coverageGate(m Modality, coverage float64) float64 {
	if m == Text {
		if coverage >= 0.95 {
			return 1
		}
		return 0
	}
	if !(coverage > 0) {
		return 0
	}
	share := coverage / 0.90
	return min(1, share*share)
}

// weightOf is the weight of a difficulty; ok is false for what is none.
func weightOf(difficulty string) (weight float64, ok bool) {
	switch difficulty {
	case "easy":
		return 1, true
	case "medium":
		return 2, true
	case "hard":
		return 3, true
	}
	return 0, false
}
