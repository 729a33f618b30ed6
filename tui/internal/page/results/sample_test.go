package results

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// What was graded is marked only where its place is certain.
func TestGraded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer, extracted string
		want                    plain.Safe
		note                    string
	}{
		{"once", "So it is 42.", "42", "So it is ▸[42]◂.", "taken as the answer"},
		{"twice", "42? Yes, 42.", "42", "42? Yes, 42.", "stands in it 2 times"},
		{"inside a number", "It is 1420.", "42", "It is 1420.", "not recorded"},
		{"at the end of a number", "It is 142", "42", "It is 142", "not recorded"},
		{"in another form", "It is 1,250.", "1250", "It is 1,250.", "letter by letter"},
		{"nothing taken", "I do not know.", "", "I do not know.", "Nothing was taken"},
		{"an answer that forges marks", "▸[1]◂ or 42", "42", "▸[1]◂ or 42", "not recorded"},
		{"hostile", "\x1b[2J 42", "42", `\x1b[2J ▸[42]◂`, "taken as the answer"},
		{"letters of another script", "Antwort: ä42ö", "42", "Antwort: ä42ö", "not recorded"},
		{"lines stay", "a\n42", "42", "a\n▸[42]◂", "taken as the answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, note := graded(tt.answer, tt.extracted)
			if got != tt.want || !strings.Contains(note, tt.note) {
				t.Errorf("%q with %q", got, note)
			}
		})
	}
}
