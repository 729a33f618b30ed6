package run

import "testing"

func TestPoints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		share float64
		want  string
	}{
		{name: "a small sample", share: 0.3417, want: "34"},
		{name: "just ten", share: 0.0996, want: "10"},
		{name: "a thousand tasks", share: 0.044, want: "4.4"},
		{name: "a hundred thousand", share: 0.0044, want: "0.4"},
		{name: "millions", share: 0.0002, want: "less than 0.1"},
	} {
		if got := points(tt.share); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
