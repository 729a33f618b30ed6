package front

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// How long a client may take. Handlers that take or give files move the limits
// of reading and writing on, piece by piece.
const (
	headerTime = 5 * time.Second
	readTime   = 30 * time.Second
	writeTime  = 60 * time.Second
	idleTime   = 90 * time.Second
	maxHeader  = 64 << 10
	maxStreams = 100
	// finishTime is what requests have after the listener is closed, and pollTime
	// what those of them have that wait for news.
	finishTime = 5 * time.Second
	pollTime   = 500 * time.Millisecond
	// helloTime is what connections have then that have not said anything yet.
	helloTime = time.Second
	// quiet is the least time between two lines about peers that were hung up on.
	quiet = time.Minute
)

// Options of a Server. Handler, Listener, Now and Log are required.
type Options struct {
	Handler  http.Handler
	Listener net.Listener
	// Certificate is nil for plain HTTP.
	Certificate *Certificate
	Proxies     Proxies
	Now         func() time.Time
	Log         *slog.Logger
}

// Server answers connections until it is shut down.
type Server struct {
	o        Options
	http     *http.Server
	crowd    *crowd
	cutOff   context.CancelFunc
	census   *census
	draining atomic.Bool
	closed   atomic.Bool
	// serving says that Serve has begun, and served is closed when it has ended.
	serving atomic.Bool
	served  chan struct{}
	told    atomic.Int64 // unix nanoseconds of the last line about a peer
}

// New makes a server that does not accept yet.
func New(o Options) *Server {
	s := &Server{o: o, census: newCensus(), served: make(chan struct{})}
	s.crowd = &crowd{
		Listener: o.Listener, most: maxConnections, mostEach: maxConnectionsOfPeers, each: map[netip.Addr]int{}, proxies: o.Proxies,
		veiled: o.Certificate == nil && !Loopback(o.Listener), turned: s.turned,
	}
	base, cutOff := context.WithCancel(context.Background())
	s.cutOff = cutOff
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		BaseContext: func(net.Listener) context.Context { return base }, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnState: s.census.note,
	}
	if o.Certificate != nil {
		s.http.TLSConfig = o.Certificate.config()
	}
	return s
}

// Loopback says whether a listener is reached from this machine only.
func Loopback(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// Serve answers until Shutdown, once. It returns nil after that.
func (s *Server) Serve() error {
	s.serving.Store(true)
	defer close(s.served)
	var err error
	if s.o.Certificate != nil {
		err = s.http.ServeTLS(s.crowd, "", "")
	} else {
		err = s.http.Serve(s.crowd)
	}
	if s.closed.Load() {
		return nil
	}
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.o.Proxies.attribute(r)
	if s.draining.Load() && r.URL.Path != "/healthz" { // a client of this machine asks there what it then uses the connection for
		w.Header().Set("Connection", "close")
	}
	s.o.Handler.ServeHTTP(w, r)
}

// Drain asks every client that is answered from now on to come back over
// another connection.
func (s *Server) Drain() { s.draining.Store(true) }

// Draining says whether the end has begun.
func (s *Server) Draining() bool { return s.draining.Load() }

// Shutdown accepts nothing any more and waits for requests, seconds at most and
// no longer than ctx. Long polls, which would wait longer, are ended.
//
// http.Server does not answer a request whose connection it had accepted when
// its own Shutdown began. So the listener is closed first, and that Shutdown
// comes when no connection has said something that was not answered.
func (s *Server) Shutdown(ctx context.Context) {
	s.Drain()
	defer s.cutOff()
	polls := time.AfterFunc(pollTime, s.cutOff)
	defer polls.Stop()
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	s.closed.Store(true)
	_ = s.o.Listener.Close() // nothing can be done about it
	if s.serving.Load() {
		<-s.served // the last connection that was accepted is counted now
	}
	s.census.settle(ctx, helloTime)
	if err := s.http.Shutdown(ctx); err != nil {
		// A client that holds its connection is not worth waiting for.
		s.o.Log.Debug("connections cut off", "error", s.http.Close())
	}
}

// Connections is how many are open now and how many were hung up on so far.
func (s *Server) Connections() (open int, refused int64) {
	return s.crowd.open(), s.crowd.refused.Load()
}

// turned tells the log of peers that were hung up on, one in a while.
func (s *Server) turned(from netip.Addr, why string) {
	now, last := s.o.Now().UnixNano(), s.told.Load()
	if now-last < int64(quiet) || !s.told.CompareAndSwap(last, now) {
		return
	}
	s.o.Log.Warn("connection refused", "from", from.String(), "why", why, "refused", s.crowd.refused.Load())
}
