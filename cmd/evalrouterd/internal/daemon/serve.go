package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/logbook"
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
	signIn     signIn
	grace      time.Duration
	// calls is how many tasks of one workspace may be in flight; 0 is the usual.
	calls int
	// facing is how serve meets the network.
	facing facing
	log    *logbook.Log
}

// begin opens the directory, takes its lock and offers the operator's routes.
func (r *runner) begin(ctx context.Context) (*open, *managed, *dirLock, error) {
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
	with := options{policy: policy, managed: routes, calls: r.calls, own: r.own, version: r.sys.Version, log: r.log.Logger, shared: shared}
	if r.facing.metrics != "" {
		with.figures = newFigures(r.sys.Version, r.log)
	}
	if shared.role == roleWorker {
		return r.labour(ctx, data, with)
	}
	l, cert, err := r.listen(ctx, addr)
	if err != nil {
		return errors.Join(err, data.close())
	}
	if _, err := data.store.CreateWorkspace(ctx, core.WorkspaceInfo{ID: serveWorkspace, Slug: string(serveWorkspace), Name: "Main"}); err != nil {
		return errors.Join(err, l.Close(), data.close())
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	with.policy.Own, with.signIn = ownAddresses(at), r.signIn.at(at, cert != nil, len(r.facing.proxies) > 0)
	s, err := newService(data, with)
	if err != nil {
		return errors.Join(err, l.Close(), data.close())
	}
	return r.run(ctx, s, r.web(s, l, cert), func() error {
		scheme := "http"
		if cert != nil {
			scheme = "https"
		}
		fmt.Fprintf(r.sys.Stderr, "evalrouterd %s serves %s://%s (workspace %s)\n", r.sys.Version, scheme, l.Addr(), serveWorkspace)
		if with.signIn.origin == "" {
			fmt.Fprintln(r.sys.Stderr, "nobody can sign in: give the address that browsers use with --web-origin. API keys work")
		}
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
	err = r.run(ctx, s, r.web(s, l, nil), ready, func(stop <-chan struct{}) { s.waitIdle(idle, stop) })
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
		modelPorts: slices.DeleteFunc(slices.Clone(r.modelPorts), func(p int) bool { return p == int(at.Port()) }), owner: token, hosts: loopbackHosts(int(at.Port())), version: r.sys.Version, log: r.log.Logger, pages: "http://" + at.String(),
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
