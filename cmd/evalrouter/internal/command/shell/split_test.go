package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		want       []string
		bad        bool
	}{
		{"words", "run  gsm8k\t--yes", []string{"run", "gsm8k", "--yes"}, false},
		{"single quotes", `catalog --jq '.data[] | .id'`, []string{"catalog", "--jq", ".data[] | .id"}, false},
		{"double quotes", `run --name "my run"`, []string{"run", "--name", "my run"}, false},
		{"an escaped space", `run my\ run`, []string{"run", "my run"}, false},
		{"an empty word", `run ''`, []string{"run", ""}, false},
		{"joined pieces", `--name='a b'c`, []string{"--name=a bc"}, false},
		{"nothing", "   ", nil, false},
		{"an open quote", `run 'a`, nil, true},
		{"a last backslash", `run \`, nil, true},
		{"a pipe", "status | head", nil, true},
		{"a variable", "run $HOME", nil, true},
		{"another program", "run; reboot", nil, true},
		{"a redirection", "export a > b", nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := split(tt.line)
			if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != tt.bad {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}
