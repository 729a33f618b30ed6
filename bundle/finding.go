package bundle

import (
	"fmt"
	"strings"
)

// Finding is one thing that is wrong with a manifest or its data. It never
// carries a value of the data, only where it stands and a stable code.
type Finding struct {
	Code string `json:"code"`
	// Path is the field: dotted in a manifest, the column in data.
	Path string `json:"path,omitempty"`
	// Row counts data rows from 1; Line is the line of the file where the row
	// starts. Both are 0 when they mean nothing.
	Row     int    `json:"row,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// Error makes a finding usable as the error of one row.
func (f *Finding) Error() string {
	var b strings.Builder
	if f.Row > 0 {
		fmt.Fprintf(&b, "row %d", f.Row)
		if f.Line > 0 {
			fmt.Fprintf(&b, " (line %d)", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	return b.String() + f.Message + " (" + f.Code + ")"
}

// Refusal is the error of a document that was refused, with every reason.
type Refusal struct {
	What     string
	Findings []Finding
}

func (r *Refusal) Error() string {
	switch len(r.Findings) {
	case 0:
		return r.What + " refused"
	case 1:
		return r.What + " refused: " + r.Findings[0].Error()
	}
	return fmt.Sprintf("%s refused: %s; and %d more", r.What, r.Findings[0].Error(), len(r.Findings)-1)
}
