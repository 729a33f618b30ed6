package argv_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// got is what a command saw.
type got struct {
	Ran    string
	Args   []string
	JSON   bool
	Yes    bool
	Max    *usd.Micro
	Models []string
	Sort   string
	N      int
	Mode   string
}

func tree(g *got) *argv.Command {
	shared := argv.NewFlags("shared")
	shared.Bool(&g.JSON, "json", "")
	fs := argv.NewFlags("run")
	fs.Bool(&g.Yes, "yes", "")
	fs.Money(&g.Max, "max-cost", "")
	fs.Strings(&g.Models, "model", "MODEL", "")
	fs.String(&g.Sort, "sort", "COL", "").WithShort('s')
	fs.Int(&g.N, "sample", "N", "", 1, 1000)
	fs.Choice(&g.Mode, "progress", "", "auto", "off")
	exec := func(name string) func(context.Context, []string) error {
		return func(_ context.Context, args []string) error {
			g.Ran, g.Args = name, args
			return nil
		}
	}
	return &argv.Command{
		Name: "evalrouter", Shared: shared,
		Sub: []*argv.Command{
			{Name: "run", Flags: fs, Exec: exec("run")},
			{Name: "connections", Sub: []*argv.Command{{Name: "list", Exec: exec("list")}}},
		},
	}
}

func parse(args ...string) (got, *argv.Parsed, error) {
	var g got
	p, err := argv.Parse(tree(&g), args)
	if err == nil && !p.Help {
		err = p.Run(context.Background())
	}
	return g, p, err
}

func TestParse(t *testing.T) {
	t.Parallel()
	five := 5 * usd.Dollar
	tests := []struct {
		name string
		args string
		want got
	}{
		{"flags behind the operand", "run b --model a --max-cost 5 --yes", got{Ran: "run", Args: []string{"b"}, Yes: true, Max: &five, Models: []string{"a"}}},
		{"flags before the operand", "run --yes --max-cost=5 b", got{Ran: "run", Args: []string{"b"}, Yes: true, Max: &five}},
		{"a global flag before the command", "--json run b", got{Ran: "run", Args: []string{"b"}, JSON: true}},
		{"a global flag behind everything", "run b --json", got{Ran: "run", Args: []string{"b"}, JSON: true}},
		{"a switch does not take the next word", "run --yes t", got{Ran: "run", Args: []string{"t"}, Yes: true}},
		{"nor a number", "run --yes 0", got{Ran: "run", Args: []string{"0"}, Yes: true}},
		{"a repeated list", "run b --model a --model c", got{Ran: "run", Args: []string{"b"}, Models: []string{"a", "c"}}},
		{"a value with a dash", "run b --sort=-col", got{Ran: "run", Args: []string{"b"}, Sort: "-col"}},
		{"a short flag", "run b -s col", got{Ran: "run", Args: []string{"b"}, Sort: "col"}},
		{"dashes end the flags", "run -- --yes b", got{Ran: "run", Args: []string{"--yes", "b"}}},
		{"a single dash is an operand", "run -", got{Ran: "run", Args: []string{"-"}}},
		{"a subcommand", "connections list --json", got{Ran: "list", Args: []string{}, JSON: true}},
		{"an operand that is a command's name", "run run", got{Ran: "run", Args: []string{"run"}}},
		{"the word of a choice", "run b --progress off", got{Ran: "run", Args: []string{"b"}, Mode: "off"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, _, err := parse(strings.Fields(tt.args)...)
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Args) == 0 {
				g.Args, tt.want.Args = nil, nil
			}
			if diff := cmp.Diff(tt.want, g); diff != "" {
				t.Errorf("parsed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		code api.Code
		want string
		near string
	}{
		{"an unknown command", []string{"rnu"}, api.CommandUnknown, `there is no command "rnu"`, "run"},
		{"another letter case", []string{"RUN"}, api.CommandUnknown, `there is no command "RUN"`, "run"},
		{"an unknown subcommand", []string{"connections", "lst"}, api.CommandUnknown, `evalrouter connections has no command "lst"`, "list"},
		{"a group alone", []string{"connections"}, api.InvalidInput, "needs a subcommand", "list"},
		{"an unknown flag", []string{"run", "--modle", "x"}, api.InvalidInput, `has no flag "--modle"`, "--model"},
		{"a long flag with one dash", []string{"run", "-model", "x"}, api.InvalidInput, "has no flag", "--model"},
		{"a secret as a flag", []string{"run", "--sk-abcDEF1234567890abcDEF"}, api.InvalidInput, "has no flag that value", ""},
		{"a repeated cap", []string{"run", "--max-cost", "1", "--max-cost", "2"}, api.InvalidInput, "--max-cost stands twice", ""},
		{"a repeated consent", []string{"run", "--yes", "--yes"}, api.InvalidInput, "--yes stands twice", ""},
		{"an empty value", []string{"run", "--sort=", "X"}, api.InvalidInput, "--sort needs a value", ""},
		{"an empty word as value", []string{"run", "--sort", ""}, api.InvalidInput, "--sort needs a value", ""},
		{"no value", []string{"run", "--sort"}, api.InvalidInput, "--sort needs a value", ""},
		{"a flag as the value", []string{"run", "--model", "--yes"}, api.InvalidInput, "the next word is the flag --yes", ""},
		{"a value for a switch", []string{"run", "--yes=no"}, api.InvalidInput, "--yes is a switch", ""},
		{"bad money", []string{"run", "--max-cost", "1,000"}, api.InvalidInput, "--max-cost: not an amount", ""},
		{"a number out of range", []string{"run", "--sample", "1001"}, api.InvalidInput, "--sample: want a whole number from 1 to 1000", ""},
		{"a word that is no choice", []string{"run", "--progress", "loud"}, api.InvalidInput, "--progress: want auto|off", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, p, err := parse(tt.args...)
			var u *argv.UsageError
			if !errors.As(err, &u) || !errors.Is(err, tt.code) {
				t.Fatalf("error %v, want a usage error with code %s", err, tt.code)
			}
			if !strings.Contains(u.Message, tt.want) {
				t.Errorf("message %q does not contain %q", u.Message, tt.want)
			}
			if u.Next == "" {
				t.Error("no command is named that helps")
			}
			if tt.near != "" && (len(u.Closest) == 0 || u.Closest[0] != tt.near) {
				t.Errorf("closest %q, want %q first", u.Closest, tt.near)
			}
			if g.Ran != "" {
				t.Errorf("%s ran all the same", g.Ran)
			}
			if p == nil {
				t.Error("no partial result beside the error")
			}
		})
	}
}

func TestParseHelp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, args, want string
		all              bool
	}{
		{"root", "--help", "evalrouter", false},
		{"command", "run --help", "evalrouter run", false},
		{"in the middle", "run b --model -h x", "evalrouter run", false},
		{"subcommand", "connections list -h", "evalrouter connections list", false},
		{"all", "run --help --all", "evalrouter run", true},
		{"beside a mistake", "run --help --nonsense", "evalrouter run", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, p, err := parse(strings.Fields(tt.args)...)
			if err != nil || !p.Help || p.Name() != tt.want || p.All != tt.all {
				t.Errorf("help %v of %q all %v, error %v; want help of %q", p.Help, p.Name(), p.All, err, tt.want)
			}
		})
	}
}

// Wherever the flags of a command line stand, the command sees the same.
func TestParseOrderDoesNotMatter_H5(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		operand := rapid.StringMatching(`[a-z0-9@.]{1,8}`).Draw(t, "operand")
		groups := [][]string{{"--yes"}, {"--max-cost", "5"}, {"--model", operand}, {"--json"}, {operand}, {"--sort=-x"}}
		var args []string
		for _, g := range rapid.Permutation(groups).Draw(t, "order") {
			args = append(args, g...)
		}
		g, _, err := parse(append([]string{"run"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if !g.Yes || !g.JSON || g.Max == nil || *g.Max != 5*usd.Dollar || g.Sort != "-x" || len(g.Args) != 1 || g.Args[0] != operand {
			t.Fatalf("%v was read as %+v", args, g)
		}
	})
}

// A raw command gets every word as it stands, "--" and unknown flags too; what
// stands before its name is read here.
func TestRaw(t *testing.T) {
	t.Parallel()
	var g got
	root := tree(&g)
	root.Sub = append(root.Sub, &argv.Command{Name: "other", Raw: true, Exec: func(_ context.Context, args []string) error {
		g.Ran, g.Args = "other", args
		return nil
	}})
	p, err := argv.Parse(root, []string{"--json", "other", "x", "--yes=t", "--json", "--json", "-q", "--", "run", "--"})
	if err == nil {
		err = p.Run(context.Background())
	}
	want := got{Ran: "other", JSON: true, Args: []string{"x", "--yes=t", "--json", "--json", "-q", "--", "run", "--"}}
	if d := cmp.Diff(want, g); d != "" || err != nil {
		t.Error(err, d)
	}
}
