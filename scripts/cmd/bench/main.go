// Command bench measures the product and prints figures with the command that
// made them; scripts/bench builds and starts it. Nothing here decides whether a
// figure is good: docs/performance.md says what was reached.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:])) }

const usage = `usage: scripts/bench startup [N]
       scripts/bench engine [flags]
       scripts/bench plan [flags]
       scripts/bench scoring [SHARED]
       scripts/bench validate [N]
       scripts/bench databases [flags]
       scripts/bench ingest [flags]
       scripts/bench report [flags]
       scripts/bench tracing [N]
       scripts/bench workspace [N [PART [PROGRAM...]]]

  startup   time from start to exit of evalrouter --version, --help, help run, catalog from a local copy, and of evalrouterd version, N times (51)
  engine    a run of the built product beside a bare Go loader on the same mock provider; engine -h lists the flags
  plan      quotes of a large benchmark, and a start over a run that was cut off; plan -h lists the flags
  databases the same run over SQLite and over PostgreSQL, in pairs; databases -h lists the flags
  scoring   grades and records a CPU second of every grader, on the data of SHARED (../shared), beside Python
  ingest    spans sent by several exporters: how many a second are kept, then lists and details over them; ingest -h lists the flags
  report    a report of very many tasks as it is written, a run in every format that it is exported in, and when a browser first paints them; report -h lists the flags
  validate  CPU time and memory of evalrouter-bench validate on 100,000 tasks in 72 MB, N times (11)
  tracing   trace capture: overhead of a span, a burst into a slow service, flushes, and spools of agents that are killed; N rounds (200)
  workspace the full-screen workspace behind a terminal: first paint, keys to their frames over 100,000 rows and at 1,000 events/s, idle CPU and memory; N keys of each kind (200); PART is opening, resting, scrolling, choosing or flooding; further PROGRAMs are measured beside bin/evalrouter-tui`

func run(args []string) int {
	var err error
	if len(args) > 0 && slices.Contains([]string{"startup", "engine", "plan", "validate", "databases", "ingest", "report", "workspace"}, args[0]) {
		err = fresh()
	}
	switch {
	case err != nil:
	case len(args) > 0 && args[0] == "startup":
		err = startups(args[1:])
	case len(args) > 0 && args[0] == "engine":
		err = engine(args[1:])
	case len(args) > 0 && args[0] == "plan":
		err = plan(args[1:])
	case len(args) == 1 && args[0] == "scoring":
		err = scoring(filepath.Join("..", "shared"))
	case len(args) == 2 && args[0] == "scoring":
		err = scoring(args[1])
	case len(args) > 0 && args[0] == "validate":
		err = validate(args[1:])
	case len(args) > 0 && len(args) < 3 && args[0] == "tracing":
		err = capturing(args[1:])
	case len(args) == 3 && args[0] == agentWord:
		err = spoolAgent(args[1], args[2])
	case len(args) > 0 && args[0] == "report":
		err = reports(args[1:])
	case len(args) == 4 && args[0] == writerWord:
		err = writeReport(args[1], args[2], args[3])
	case len(args) > 0 && args[0] == "databases":
		err = databases(args[1:])
	case len(args) > 0 && args[0] == "workspace":
		err = workspaceBench(args[1:])
	case len(args) > 0 && args[0] == "ingest":
		err = ingest(args[1:])
	default:
		err = errUsage
	}
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, usage)
		return 2
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

var errUsage = errors.New("usage")

func startups(args []string) error {
	n := 51
	if len(args) > 0 {
		if _, err := fmt.Sscan(args[0], &n); err != nil || n < 1 {
			return errUsage
		}
	}
	home, err := os.MkdirTemp("", "bench-startup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "EVALROUTER_API_KEY=", "EVALROUTER_BASE_URL=")
	// A copy of the catalog, from the service that this home starts.
	for _, words := range [][]string{{"catalog"}, {"local", "stop"}} {
		cmd := exec.Command("bin/evalrouter", words...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run evalrouter %s: %w\n%s", words[0], err, out)
		}
	}
	for _, words := range [][]string{
		{"bin/evalrouter", "--version"}, {"bin/evalrouter", "--help"}, {"bin/evalrouter", "help", "run"}, {"bin/evalrouter", "catalog", "--offline"}, {"bin/evalrouterd", "version"},
	} {
		if err := startup(words, env, n); err != nil {
			return err
		}
	}
	return nil
}

// startup times a command as a whole process. The first three runs warm the
// page cache and do not count.
func startup(command, env []string, n int) error {
	const warm = 3
	var took []time.Duration
	var rss int64
	for i := range n + warm {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = env
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run %v: %w (build with scripts/setup first)", command, err)
		}
		if i >= warm {
			took = append(took, time.Since(began))
			rss = max(rss, peak(cmd.ProcessState))
		}
	}
	slices.Sort(took)
	info, err := os.Stat(command[0])
	if err != nil {
		return err
	}
	fmt.Printf("%-28s min %5.2f  median %5.2f  max %5.2f ms   peak RSS %4.1f MiB   binary %5.2f MiB   (%d runs)\n", strings.TrimPrefix(strings.Join(command, " "), "bin/"),
		ms(took[0]), ms(took[len(took)/2]), ms(took[len(took)-1]), float64(rss)/(1<<20), float64(info.Size())/(1<<20), n)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
