package command

import (
	"context"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// Bench is the program that makes benchmarks. It is one of its own so that
// graders and their tables weigh nothing here.
const Bench = "evalrouter-bench"

// Benchmark makes benchmarks on this machine, by way of evalrouter-bench.
func Benchmark(a *App) *argv.Command {
	sub := func(name, args, short string, examples ...string) *argv.Command {
		c := a.bench(name, args, short)
		for _, e := range examples {
			c.Examples = append(c.Examples, "evalrouter benchmark "+name+" "+e)
		}
		return c
	}
	return &argv.Command{
		Name: "benchmark", Args: "COMMAND", Short: "Make your own benchmarks, and bring data",
		Examples: []string{"evalrouter benchmark init ./my-benchmark --namespace acme --name mine", "evalrouter benchmark validate ./my-benchmark"},
		Sub: []*argv.Command{
			sub("init", "DIR --namespace NAMESPACE --name NAME", "Write a draft benchmark into a new folder", "./my-benchmark --namespace acme --name mine", "./mine --namespace acme --name mine --json"),
			sub("validate", "DIR_OR_BUNDLE", "Say whether a package is valid, and what is wrong", "./my-benchmark", "./my-benchmark --json"),
			sub("lint", "DIR_OR_BUNDLE [--strict]", "Say whether a valid package is a good benchmark", "./my-benchmark", "./my-benchmark --json"),
			sub("preview", "DIR_OR_BUNDLE [--outputs FILE]", "Show what a model is asked and how answers grade", "./my-benchmark --limit 1", "./my-benchmark --json"),
			sub("bundle", "DIR [--output PATH]", "Write a valid package as one zip file", "./my-benchmark", "./my-benchmark --output mine.zip"),
			benchmarkUpload(a), benchmarkImport(a), benchmarkCreate(a), benchmarkList(a), benchmarkSources(a), benchmarkArchive(a), benchmarkArchiveSource(a),
		},
	}
}

// Verify checks a bundle, by way of evalrouter-bench.
func Verify(a *App) *argv.Command {
	c := a.bench("verify", "BUNDLE [--sha256 DIGEST]", "Check a benchmark bundle, or the evidence of a run")
	c.Examples = []string{"evalrouter verify ./my-benchmark.zip", "evalrouter verify ./evalrouter-3f2a9c.bundle.zip --json"}
	return c
}

// bench is a command that evalrouter-bench has under the same name.
func (a *App) bench(name, args, short string) *argv.Command {
	return &argv.Command{
		Name: name, Args: args, Short: short, Raw: true,
		Long: "Every flag: " + Bench + " " + name + " --help",
		Exec: func(_ context.Context, words []string) error {
			front := words[:indexOr(words, "--")]
			if slices.Contains(front, "--json") {
				a.Global.JSON = true // for an error of this program
			} else if a.Global.JSON {
				words = append([]string{"--json"}, words...)
			}
			path, err := a.FindBinary(Bench)
			if err != nil {
				return &argv.UsageError{
					Code:    api.BenchmarkExtraRequired,
					Message: name + " is done by " + Bench + ", which is not installed; nothing was read or written",
					Next:    "go install github.com/evalrouter/evalrouter/cmd/" + Bench + "@" + a.ModuleVersion(),
				}
			}
			return a.Exec(path, append([]string{Bench, name}, words...))
		},
	}
}

// ModuleVersion is this program's version as go install takes it: a program
// built from a checkout has none of its own.
func (a *App) ModuleVersion() string {
	if strings.HasPrefix(a.Version, "v") {
		return a.Version
	}
	return "latest"
}
