package sob

// Inner steps that the vectors replay one by one.
var (
	CoverageGate = coverageGate
	Tokens       = tokens
	TokenF1      = tokenF1
	Wildcard     = wildcard
	TypeOf       = typeOf
	IsType       = isType
	Bounds       = bounds
)

// FlattenLeaves returns paths and values in order.
func FlattenLeaves(v any) (paths []string, values []any) {
	for _, l := range flatten(v).list {
		paths, values = append(paths, l.path), append(values, l.value)
	}
	return paths, values
}

func ValueEM(truth, answer any) float64     { return exactMatch(flatten(truth), flatten(answer)) }
func MeanTokenF1(truth, answer any) float64 { return meanTokenF1(flatten(truth), flatten(answer)) }

func PathMetrics(truth, answer any) (recall, coverage float64) {
	g, p := flatten(truth), flatten(answer)
	n := g.overlap(p)
	return ratio(n, len(g.list)), f1(n, len(p.list), len(g.list))
}

func TypePrecision(answer, schema any) (float64, error) {
	return typePrecision(flatten(answer), schema)
}

func TypeAt(schema any, path string) (string, error) {
	name, _, err := typeAt(schema, path, nil)
	return name, err
}

func RequiredPaths(schema any) ([]any, error) { return requiredPaths(nil, schema, "") }

// Split returns the parts of a path, "[]" for an index.
func Split(path string) ([]string, error) {
	steps, err := split(nil, path)
	var out []string
	for _, s := range steps {
		if s.index {
			s.key = "[]"
		}
		out = append(out, s.key)
	}
	return out, err
}

// PresentPaths returns the wildcard paths of a value.
func PresentPaths(v any) map[string]struct{} {
	out := map[string]struct{}{}
	present(v, nil, out)
	return out
}

// Recall is the required key recall against any schema, valid or not.
func Recall(answer, schema any) (float64, []any) {
	c := NewContract(schema)
	if !c.valid {
		c.valid = true
		for _, p := range c.raw {
			c.required = append(c.required, p.(string))
		}
	}
	return c.recall(answer)
}
