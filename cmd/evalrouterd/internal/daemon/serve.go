package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Defaults of the running commands.
const (
	defaultPort  = 7788
	defaultIdle  = 30 * time.Minute
	defaultGrace = 60 * time.Second
	portTries    = 100
	// practiceCredit is what the local workspace has to play with.
	practiceCredit = 100 * usd.Dollar
	serveWorkspace = core.WorkspaceID("main")
)

// record is service.json.
type record struct {
	Schema    string    `json:"schema"`
	PID       int       `json:"pid"`
	Port      int       `json:"port"`
	BaseURL   string    `json:"base_url"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
}

const recordSchema = "evalrouter.local_service.v1"

// runner is what serve and local have in common.
type runner struct {
	sys System
	at  place
	// providers names the operator's file of routes; "" is the one in the data
	// directory, if there is one.
	providers string
	// private is what the operator lets the service reach beside public hosts.
	private []string
	// modelPorts are where a local service looks for model servers.
	modelPorts []int
	own        ownData
	grace      time.Duration
	// calls is how many tasks of one workspace may be in flight; 0 is the usual.
	calls int
	log   *slog.Logger
}

// begin opens the directory, takes its lock and offers the operator's routes.
func (r *runner) begin(ctx context.Context) (*open, *managed, *os.File, error) {
	d, err := openDir(r.at.dir)
	if err != nil {
		return nil, nil, nil, err
	}
	routes, err := loadManaged(d, r.providers, r.private, r.sys.Getenv)
	if err != nil {
		return nil, nil, nil, err
	}
	lock, err := d.takeLock()
	if err != nil {
		return nil, nil, nil, err
	}
	data, err := openData(ctx, d, r.at)
	if err != nil {
		lock.Close()
		return nil, nil, nil, err
	}
	err = data.unlock(ctx)
	if err == nil {
		err = data.mayCall(ctx)
	}
	if err == nil {
		err = routes.offer(ctx, data)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, data.close(), lock.Close())
	}
	return data, routes, lock, nil
}

// serve answers API keys on any address.
func (r *runner) serve(ctx context.Context, addr string, policy netguard.Policy, shared sharing) error {
	data, routes, lock, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if shared.role == roleWorker {
		return r.labour(ctx, data, options{policy: policy, managed: routes, calls: r.calls, own: r.own, version: r.sys.Version, log: r.log, shared: shared})
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(listenError(ctx, addr, err), data.close())
	}
	if _, err := data.store.CreateWorkspace(ctx, core.WorkspaceInfo{ID: serveWorkspace, Slug: string(serveWorkspace), Name: "Main"}); err != nil {
		return errors.Join(err, l.Close(), data.close())
	}
	policy.Own = ownAddresses(l.Addr().(*net.TCPAddr).AddrPort())
	s, err := newService(data, options{policy: policy, managed: routes, calls: r.calls, own: r.own, version: r.sys.Version, log: r.log, shared: shared})
	if err != nil {
		return errors.Join(err, l.Close(), data.close())
	}
	return r.run(ctx, s, l, func() error {
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			fmt.Fprintf(r.sys.Stderr, "warning: %s is reached from other machines over plain HTTP: keys and answers can be read on the way. "+
				"Put a proxy with TLS in front of it, or listen on 127.0.0.1\n", l.Addr())
		}
		fmt.Fprintf(r.sys.Stderr, "evalrouterd %s serves http://%s (workspace %s)\n", r.sys.Version, l.Addr(), serveWorkspace)
		return nil
	}, nil)
}

// local is the on-demand service of one person on this machine.
func (r *runner) local(ctx context.Context, port int, idle time.Duration) error {
	data, routes, lock, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	s, l, err := r.prepareLocal(ctx, data, routes, port)
	if err != nil {
		return errors.Join(err, data.close())
	}
	taken := l.Addr().(*net.TCPAddr).Port
	ready := func() error {
		return data.dir.writeRecord(record{
			Schema: recordSchema, PID: os.Getpid(), Port: taken, BaseURL: "http://127.0.0.1:" + strconv.Itoa(taken), Version: r.sys.Version, StartedAt: time.Now().UTC(),
		})
	}
	err = r.run(ctx, s, l, ready, func(stop <-chan struct{}) { s.waitIdle(idle, stop) })
	if rm := os.Remove(data.dir.path(recordFile)); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

func (r *runner) prepareLocal(ctx context.Context, data *open, routes *managed, port int) (*service, net.Listener, error) {
	token, err := data.dir.ownerToken()
	if err != nil {
		return nil, nil, err
	}
	if _, err := data.store.CreateWorkspace(ctx, core.WorkspaceInfo{ID: core.Local, Slug: string(core.Local), Name: "Local", Practice: true}); err != nil {
		return nil, nil, err
	}
	// The id makes it once and for all: credit that was played away stays away.
	if err := data.store.Grant(ctx, "practice-credit-1", core.Local, core.PracticeBook, practiceCredit, "practice credit"); err != nil {
		return nil, nil, err
	}
	l, err := listenNear(ctx, port)
	if err != nil {
		return nil, nil, err
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	s, err := newService(data, options{
		policy: netguard.Policy{AllowLoopback: true, Own: ownAddresses(at)}, managed: routes, own: r.own,
		modelPorts: slices.DeleteFunc(slices.Clone(r.modelPorts), func(p int) bool { return p == int(at.Port()) }), owner: token, hosts: loopbackHosts(int(at.Port())), version: r.sys.Version, log: r.log,
	})
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return s, l, nil
}

// ownAddresses are those under which a listener is reached: all of the machine
// when it listens everywhere.
func ownAddresses(at netip.AddrPort) []netip.AddrPort {
	if !at.Addr().IsUnspecified() {
		return []netip.AddrPort{at}
	}
	own := []netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return own // the machine does not tell; loopback is the one that everybody has
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, netip.AddrPortFrom(p.Addr().Unmap(), at.Port()))
		}
	}
	return own
}

// listenNear takes the first free port from port on.
func listenNear(ctx context.Context, port int) (net.Listener, error) {
	var last error
	for p := port; p < port+portTries && p <= 65535; p++ {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(p))
		l, err := net.Listen("tcp", addr)
		if err == nil {
			return l, nil
		}
		if last = listenError(ctx, addr, err); !errors.Is(err, syscall.EADDRINUSE) || port == 0 {
			return nil, last
		}
	}
	return nil, last
}

// listenError says why an address cannot be had, and who has it.
func listenError(ctx context.Context, addr string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return refuse("invalid_configuration", "evalrouterd cannot listen on %s: %s; nothing was started", addr, err)
	}
	return refuse("port_taken", "%s is taken by %s; nothing was started. Choose another address with --addr", addr, holder(ctx, addr))
}

// holder asks whoever listens whether it is one of us.
func holder(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return "another program"
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return "another program"
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK && strings.HasPrefix(res.Header.Get("X-Request-Id"), "req_") {
		return "another evalrouterd"
	}
	return "another program"
}

// loopbackHosts accepts the names under which a browser or client on this
// machine may reach the port. A page elsewhere whose name was pointed here
// sends another one.
func loopbackHosts(port int) func(string) bool {
	p := ":" + strconv.Itoa(port)
	return func(host string) bool {
		switch strings.ToLower(host) {
		case "127.0.0.1" + p, "localhost" + p, "[::1]" + p:
			return true
		}
		return false
	}
}

// run serves until a signal, the end of ctx or idleness, and then stops.
func (r *runner) run(ctx context.Context, s *service, l net.Listener, ready func() error, idle func(stop <-chan struct{})) error {
	base, cutOff := context.WithCancel(context.Background())
	defer cutOff()
	srv := &http.Server{
		Handler: s.server, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 60 * time.Second, IdleTimeout: 90 * time.Second,
		MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return base }, ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelDebug),
	}
	if err := s.start(ctx); err != nil {
		return errors.Join(err, l.Close(), s.stop(ctx))
	}
	var group sync.WaitGroup
	served := make(chan error, 1)
	group.Add(1)
	go func() { defer group.Done(); served <- srv.Serve(newCrowd(l)) }()
	stop, wasIdle := make(chan struct{}), make(chan struct{})
	if idle != nil {
		group.Add(1)
		go func() {
			defer group.Done()
			idle(stop)
			close(wasIdle)
		}()
	}
	sweep, stopSweep := context.WithCancel(context.Background())
	defer stopSweep()
	var sweeping sync.WaitGroup
	sweeping.Add(1)
	go func() { defer sweeping.Done(); s.expireAnswers(sweep) }()
	err := ready()
	if err == nil {
		err = r.wait(ctx, s, served, wasIdle)
	}
	close(stop)
	stopSweep()
	sweeping.Wait() // it uses the database, which shutdown closes
	err = errors.Join(err, r.shutdown(s, srv, cutOff))
	group.Wait()
	return err
}

// wait returns when the service should end: nil for every ordinary reason.
func (r *runner) wait(ctx context.Context, s *service, served <-chan error, idle <-chan struct{}) error {
	select {
	case <-s.store.Replaced():
		return &refusal{code: "database_replaced", status: exitFailed, message: "the database was replaced by another one, by a failover or a restored backup; no call begins. Start evalrouterd again: it says what was stopped"}
	case sig := <-r.sys.Signals:
		r.log.Info("stopping", "signal", sig.String())
	case <-ctx.Done():
	case <-idle:
		r.log.Info("stopping: idle")
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// shutdown answers what was asked, waits for calls in flight, and lets a
// second signal end the wait.
func (r *runner) shutdown(s *service, srv *http.Server, cutOff context.CancelFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.grace)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	defer close(done)
	group.Add(1)
	go func() {
		defer group.Done()
		select {
		case <-r.sys.Signals:
			cancel()
		case <-done:
		}
	}()
	cutOff() // long polls end now; writes that began go on
	web, stopWeb := context.WithTimeout(ctx, 5*time.Second)
	defer stopWeb()
	if srv == nil {
		return s.stop(ctx)
	}
	if err := srv.Shutdown(web); err != nil {
		// A client that holds its connection is not worth waiting for.
		r.log.Debug("connections cut off", "error", srv.Close())
	}
	r.log.Info("stopped", "commits", s.store.Commits())
	return s.stop(ctx)
}

// waitIdle returns once nobody has asked and nothing has run for that long.
func (s *service) waitIdle(idle time.Duration, stop <-chan struct{}) {
	tick := time.NewTicker(max(min(idle/10, 30*time.Second), 10*time.Millisecond))
	defer tick.Stop()
	busy := time.Now()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			if s.engine.Active() > 0 || s.server.Pending() > 0 {
				busy = now
			}
			if last := s.server.LastRequest(); last.After(busy) {
				busy = last
			}
			if now.Sub(busy) >= idle {
				return
			}
		}
	}
}
