package store

import (
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    int
		most time.Duration
		want time.Duration
	}{
		{"after one that was alone", 1, 4 * time.Millisecond, 0},
		{"few wait little", 4, 4 * time.Millisecond, 200 * time.Microsecond},
		{"more wait longer", 40, 4 * time.Millisecond, 2 * time.Millisecond},
		{"but not without end", maxBatch, 4 * time.Millisecond, 4 * time.Millisecond},
		{"switched off", maxBatch, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := pause(tt.n, tt.most); got != tt.want {
				t.Errorf("pause(%d, %s) = %s, want %s", tt.n, tt.most, got, tt.want)
			}
		})
	}
}
