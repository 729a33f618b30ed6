// Command prove runs the long proofs that are too slow for every change:
// scripts/prove builds and starts it. Each prints what it ran and what came
// of it, with the seeds; docs/reliability.md keeps the last results.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const usage = `usage: scripts/prove sim|kill|pg|takeover|crash|disk|ingest|slow|mutants [-n N] [-first SEED] [-only TEXT]
       scripts/prove scoring
       scripts/prove fuzz [-time 10m] [-target NAME]
       scripts/prove browser [-pictures DIR]
       scripts/prove refresh [-n N]
       scripts/prove newcomer
       scripts/prove signin [-n N]
       scripts/prove langsmith|langsmith-kill|langsmith-backfill [-n N] [-first SEED] [-roots N]

  sim       play N seeded histories of the engine, each twice (500)
  kill      kill the service N times in runs of real answers, twenty to a run (100)
  pg        kill workers of a shared PostgreSQL N times, twenty to a crew of three, and restart
            PostgreSQL three times under a run of 20,000 tasks (100); then kill the worker of a run three
            times under the usual lease and print how long the run stood still; takeover does only that
  crash     die at every point of a process, on SQLite and on a PostgreSQL of its own
  disk      fill, break and lock the disk of the service N times while it works (50)
  slow      hold the service with N slow clients (1000) for a minute; a hundredth of the requests of healthy
            clients may take 250 ms or more, and the service 512 MiB
  ingest    kill the service N times while exporters send it spans (20)
  mutants   break the code in each known way, at most N, and see a test fail (all);
            -only takes those with TEXT in their name or file
  scoring   the proofs of the graders, row by row, with their figures
  signin    50 processes meet at the end of a token, N rounds (100), and a process dies N times between the
            next pair of tokens and the file that keeps it
  fuzz      every fuzz target of scoring for a while, or those with NAME in theirs
  browser   sign in with a real Chromium and the keyboard alone, with the command line of EVALROUTER_TEST_BIN too,
            and hold every page at four widths, light and dark; -pictures keeps what it saw. EVALROUTER_TEST_CHROMIUM names the
            browser, or it is on the PATH
  newcomer  type docs/getting-started.md in an empty home, from the clone to the report, which has five minutes
  refresh   N rounds (100) in which fifty clients refresh one sign-in at once
  langsmith           play N histories (50) of the LangSmith connector with as many roots as -roots (100000) on a
                      virtual clock; -seeds is another name of -n
  langsmith-kill      kill the connector N times at its requests (500)
  langsmith-backfill  import N traces (100000) and show the connector's peak memory`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		return help()
	}
	flags := flag.NewFlagSet("scripts/prove", flag.ContinueOnError)
	n := flags.Int("n", 0, "how many")
	flags.IntVar(n, "seeds", 0, "how many")
	first := flags.Uint64("first", 1, "the first seed")
	only := flags.String("only", "", "only mutants whose file or name holds this")
	each := flags.Duration("time", 10*time.Minute, "how long for each fuzz target")
	wanted := flags.String("target", "", "fuzz targets with this in their name")
	pictures := flags.String("pictures", "", "a folder for screenshots")
	roots := flags.Int("roots", 100_000, "roots in each history of the connector")
	if flags.Parse(args[1:]) != nil || flags.NArg() > 0 {
		return help()
	}
	began := time.Now()
	var err error
	switch args[0] {
	case "sim":
		err = sim(orElse(*n, 500), *first)
	case "kill":
		err = kill(orElse(*n, 100))
	case "crash":
		err = crash()
	case "disk":
		err = disk(orElse(*n, 50))
	case "slow":
		err = slow(orElse(*n, 1000))
	case "ingest":
		err = ingest(orElse(*n, 20))
	case "takeover":
		err = takeover()
	case "pg":
		err = pg(orElse(*n, 100))
	case "mutants":
		err = mutants(*n, *only)
	case "scoring":
		err = scoring()
	case "signin":
		err = signin(orElse(*n, 100))
	case "fuzz":
		err = fuzz(*each, *wanted)
	case "browser":
		err = browser(*pictures)
	case "newcomer":
		err = newcomer()
	case "refresh":
		err = refresh(orElse(*n, 100))
	case "langsmith":
		err = langsmith(orElse(*n, 50), *roots, *first)
	case "langsmith-kill":
		err = langsmithKill(orElse(*n, 500))
	case "langsmith-backfill":
		err = langsmithBackfill(orElse(*n, 100_000))
	default:
		return help()
	}
	fmt.Printf("%s: %s\n", args[0], time.Since(began).Round(time.Second))
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		return 1
	}
	return 0
}

func help() int {
	fmt.Fprintln(os.Stderr, usage)
	return 2
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func sim(n int, first uint64) error {
	fmt.Printf("sim: seeds %d to %d, each twice\n", first, first+uint64(n)-1)
	return show(exec.Command("go", "test", "./cmd/evalrouterd/internal/sim", "-count=1", "-timeout=24h", "-run=TestHistories|TestGroupHistories|TestResumeRaces|TestResumeChains|TestGroupResumeRaces",
		"-sim.seeds="+strconv.Itoa(n), "-sim.first="+strconv.FormatUint(first, 10)))
}

// crash leaves the PostgreSQL part to withpg, which starts a server for it. The
// files beside the database are those that a first start makes.
func crash() error {
	skipped, err := sift(exec.Command("scripts/withpg", "go", "test", "./cmd/evalrouterd/internal/crash", "-count=1", "-timeout=24h", "-crash.whole", "-v", "-run=TestCrash"))
	if err == nil && skipped {
		err = errors.New("a part of the proof was skipped; the reason stands above")
	}
	if err != nil {
		return err
	}
	return withBinaries("-run=TestDeath_InAFirstStart", "-death.whole", "-count=1")
}

// sift shows what a test says and how it ends, without its thousand parts,
// and whether any of it was skipped.
func sift(cmd *exec.Cmd) (skipped bool, err error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		line := strings.TrimSpace(in.Text())
		skipped = skipped || strings.HasPrefix(line, "--- SKIP")
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- PASS") && line != "PASS" {
			fmt.Println(in.Text())
		}
	}
	return skipped, cmd.Wait()
}

// killsPerRun is how often TestKill_TwentyTimesInARun kills.
const killsPerRun = 20

func kill(n int) error {
	runs := (n + killsPerRun - 1) / killsPerRun
	fmt.Printf("kill: %d runs with %d kills each\n", runs, killsPerRun)
	return withBinaries("-run=TestKill_TwentyTimesInARun", "-count="+strconv.Itoa(runs))
}

// ingest kills the service while spans arrive.
func ingest(n int) error {
	fmt.Printf("ingest: %d kills while spans arrive\n", n)
	return withBinaries("-run=TestIngestKill_", "-count=1", "-v", "-e2e.ingest-kills="+strconv.Itoa(n))
}

// faultsPerRun is how many faults of the disk one run meets.
const faultsPerRun = 10

func disk(n int) error {
	runs := (n + faultsPerRun - 1) / faultsPerRun
	fmt.Printf("disk: %d runs with %d faults each\n", runs, faultsPerRun)
	return withBinaries("-run=TestDisk_FaultsInARun", "-count="+strconv.Itoa(runs), "-disk.n="+strconv.Itoa(faultsPerRun))
}

// slow measures, so nothing else should run on the machine meanwhile.
func slow(n int) error {
	fmt.Printf("slow: %d slow clients, a minute\n", n)
	return show(exec.Command("go", "test", "./cmd/evalrouterd/internal/daemon", "-count=1", "-timeout=1h", "-v", "-run=TestSlowClients",
		"-slow.clients="+strconv.Itoa(n), "-slow.for=1m", "-slow.p99=250ms"))
}

// pg kills workers that share a PostgreSQL, and restarts the database under a
// long run.
func pg(n int) error {
	crews := (n + killsPerRun - 1) / killsPerRun
	fmt.Printf("pg: %d crews of three workers with %d kills each, then 3 immediate restarts of PostgreSQL under a run of 20,000 tasks\n", crews, killsPerRun)
	err := withBinaries("-run=TestCluster_WorkersAreKilled", "-count="+strconv.Itoa(crews), "-e2e.kills="+strconv.Itoa(killsPerRun))
	if err != nil {
		return err
	}
	if err := withBinaries("-run=TestCluster_DatabaseRestarts", "-count=1", "-e2e.tasks=20000", "-e2e.restarts=3"); err != nil {
		return err
	}
	return takeover()
}

// signin has the command line as a test built it replace tokens at a service in
// memory.
func signin(n int) error {
	fmt.Printf("signin: %d rounds of 50 processes, then %d kills\n", n, n)
	_, err := sift(exec.Command("go", "test", "./cmd/evalrouter", "-count=1", "-timeout=1h", "-v", "-run=TestRacingRefresh|TestKilledRefresh",
		"-signin.rounds="+strconv.Itoa(n), "-signin.processes=50", "-signin.kills="+strconv.Itoa(n)))
	return err
}

// takeover prints how long the run of a killed worker stands still under the
// usual lease.
func takeover() error {
	return withBinaries("-run=TestCluster_TakeoverWithinAMinute", "-count=1", "-e2e.takeovers=3")
}

// withBinaries builds the binaries as they ship and runs tests that drive
// them. A test that is skipped proves nothing.
func withBinaries(flags ...string) error {
	bin, err := os.MkdirTemp("", "prove-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	for _, name := range []string{"evalrouter", "evalrouterd"} {
		build := exec.Command("go", "build", "-o", bin+"/"+name, "./cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := show(build); err != nil {
			return err
		}
	}
	test := exec.Command("go", append([]string{"test", "./scripts/e2e", "-timeout=24h", "-v"}, flags...)...)
	test.Env = append(os.Environ(), "EVALROUTER_TEST_BIN="+bin)
	skipped, err := sift(test)
	if err == nil && skipped {
		return errors.New("the proof was skipped; the reason stands above")
	}
	return err
}

func show(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
