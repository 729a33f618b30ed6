package traces_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/traces"
)

func span(id, parent string) api.SpanRecord {
	s := api.SpanRecord{ID: id}
	if parent != "" {
		s.ParentSpanID = &parent
	}
	return s
}

// Every step is shown once, below the one around it where that is there.
func TestTree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spans []api.SpanRecord
		want  string
	}{
		{"nothing", nil, ""},
		{"inside each other", []api.SpanRecord{span("a", ""), span("b", "a"), span("c", "b"), span("d", "a")}, "a0 b1 c2 d1"},
		{"children first", []api.SpanRecord{span("c", "b"), span("b", "a"), span("a", "")}, "a0 b1 c2"},
		{"a parent that has not come", []api.SpanRecord{span("a", ""), span("x", "gone"), span("y", "x")}, "a0 x0! y1"},
		{"a circle", []api.SpanRecord{span("a", "b"), span("b", "a"), span("r", "")}, "r0 a0! b1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range traces.Tree(c.spans) {
				one := fmt.Sprint(s.Span.ID, s.Depth)
				if s.Lost {
					one += "!"
				}
				got = append(got, one)
			}
			if out := strings.Join(got, " "); out != c.want {
				t.Errorf("%s, want %s", out, c.want)
			}
		})
	}
}
