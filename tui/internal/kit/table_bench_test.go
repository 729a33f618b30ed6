package kit_test

import (
	"fmt"
	"testing"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// crowd is a list of a hundred thousand rows.
func crowd() kit.Table {
	const n = 100_000
	rows, keys := make([]kit.Row, n), make([]string, n)
	for i := range n {
		keys[i] = fmt.Sprintf("crowd.model-%06d", i)
		rows[i] = kit.Row{plain.Line(keys[i]), plain.Line(fmt.Sprintf("Model %06d of a crowd", i)), "practice", "1.00", "4.00", "simulated"}
	}
	return kit.NewTable(kit.Column{Name: "MODEL"}, kit.Column{Name: "NAME"}, kit.Column{Name: "PROVIDER"}, kit.Column{Name: "IN"}, kit.Column{Name: "OUT"}, kit.Column{Name: "KIND"}).With(rows, keys).Sized(45)
}

// What one key costs over a hundred thousand rows, with its frame.
func BenchmarkTable(b *testing.B) {
	for _, tt := range []struct {
		name string
		keys []kit.Press
	}{
		{"Down", []kit.Press{{Key: kit.Down}}},
		{"PgDn", []kit.Press{{Key: kit.PgDn}}},
		{"a letter and Ctrl+U", []kit.Press{{Key: kit.Char, Rune: '7'}, {Key: kit.CtrlU}}},
		{"a word and Ctrl+U", []kit.Press{{Key: kit.Char, Rune: 'm'}, {Key: kit.Char, Rune: 'd'}, {Key: kit.Char, Rune: 'l'}, {Key: kit.Char, Rune: '9'}, {Key: kit.CtrlU}}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			t := crowd()
			b.ResetTimer()
			for b.Loop() {
				for _, k := range tt.keys {
					t, _ = t.Update(k)
					t.View(kit.NewCanvas(200, 45))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(tt.keys)), "us/key")
		})
	}
}
