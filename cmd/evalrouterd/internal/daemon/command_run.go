package daemon

import (
	"context"
	"fmt"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/discover"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/logbook"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/allowance"
)

func serveCommand(f *flagSet) action {
	data, verbose := f.data(), f.toggle("verbose", "log every request")
	addr := f.StringLong("addr", "127.0.0.1:7788", "`HOST:PORT` to listen on")
	grace := f.DurationLong("grace", defaultGrace, "`TIME` to wait for calls in flight when stopping")
	providers := f.StringLong("providers", "", "the `FILE` of managed routes; without it, providers.yaml in the data directory, if it is there")
	calls := f.IntLong("workspace-calls", engine.DefaultWorkspaceCalls, "how many tasks of one workspace this process has in flight at most, a `NUMBER`")
	active := f.IntLong("workspace-runs", activeRuns, "how many runs of one workspace may go on at once, a `NUMBER`; 0 for any")
	share := f.sharing()
	own, face, people := f.private(), f.facing(), f.signIn()
	private := f.StringListLong("allow-private", "a private `HOST:PORT` that connections may reach; repeat it for more")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		shared, err := share(at)
		if err != nil {
			return err
		}
		if *calls < 1 {
			return refuse("invalid_input", "--workspace-calls is at least 1; nothing was started")
		}
		if *active < 0 {
			return refuse("invalid_input", "--workspace-runs is 0 or more; nothing was started")
		}
		mine, err := own()
		if err != nil {
			return err
		}
		facing, err := face()
		if err != nil {
			return err
		}
		who, err := people(sys)
		if err != nil {
			return err
		}
		r := runner{
			sys: sys, at: at, calls: *calls, bounds: allowance.Bounds{ActiveRuns: *active, OpenQuotes: openQuotes}, own: mine, signIn: who, facing: facing, providers: *providers, private: *private, grace: *grace, log: logbook.New(sys.Stderr, *verbose),
		}
		return at.explain(r.serve(ctx, *addr, netguard.Policy{AllowPrivate: *private}, shared))
	}
}

func localCommand(f *flagSet) action {
	data, verbose := f.dir(), f.toggle("verbose", "log every request")
	port := f.IntLong("port", defaultPort, "first loopback `PORT` to try")
	models := f.StringListLong("model-port", "a loopback `PORT` to look for model servers on, in place of the usual ones; repeat it for more")
	idle := f.DurationLong("idle", defaultIdle, "end after this `TIME` without a request or an active run")
	grace := f.DurationLong("grace", defaultGrace, "`TIME` to wait for calls in flight when stopping")
	providers := f.StringLong("providers", "", "the `FILE` of managed routes; without it, providers.yaml in the data directory, if it is there")
	own := f.private()
	return func(ctx context.Context, sys System, _ []string) error {
		dir, err := data(sys)
		if err != nil {
			return err
		}
		if *port < 0 || *port > 65535 || *idle <= 0 {
			return refuse("invalid_input", "--port is 0 to 65535 and --idle is more than nothing")
		}
		ports, err := modelPorts(*models)
		if err != nil {
			return err
		}
		mine, err := own()
		if err != nil {
			return err
		}
		r := runner{sys: sys, at: place{dir: dir, now: sys.now}, own: mine, providers: *providers, modelPorts: ports, grace: *grace, log: logbook.New(sys.Stderr, *verbose)}
		return dataDir(dir).explain(r.local(ctx, *port, *idle))
	}
}

// modelPorts reads the ports of --model-port, or gives the usual ones.
func modelPorts(given []string) ([]int, error) {
	if len(given) == 0 {
		return discover.Ports(), nil
	}
	var list []int
	for _, s := range given {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 65535 {
			return nil, refuse("invalid_input", "--model-port is 1 to 65535")
		}
		list = append(list, n)
	}
	return list, nil
}

func versionCommand(*flagSet) action {
	return func(_ context.Context, sys System, _ []string) error {
		fmt.Fprintf(sys.Stdout, "evalrouterd %s\n", sys.Version)
		return nil
	}
}
