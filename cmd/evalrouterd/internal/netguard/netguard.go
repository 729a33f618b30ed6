// Package netguard decides which addresses the service connects to on behalf
// of its users.
//
// A user names a base URL; the service connects from inside the operator's
// network. What is allowed is therefore checked where it cannot be evaded:
// on the resolved address, at the moment of connecting, for every address
// that a name resolves to. CheckURL runs the same rules early, for a clear
// sentence; it proves nothing.
//
// Public addresses are reached on port 443 and the ports that the operator
// adds. Private ones are reached only where the operator names host and port.
// Link-local and metadata addresses, and addresses that carry another address
// inside, are never reached.
package netguard

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Policy is the operator's; a user can change none of it.
type Policy struct {
	// AllowLoopback is for the local service, whose user owns the machine.
	AllowLoopback bool
	// AllowPrivate lists host:port, where host is a name or an address:
	// "10.0.0.5:8000", "[fd00::5]:8000", "vllm:8000". A name may then resolve
	// to private and loopback addresses.
	AllowPrivate []string
	// AllowPorts are public ports beside 443.
	AllowPorts []uint16
	// Own are the addresses on which this service itself listens. It never
	// calls itself: a run would wait for a call that waits for the run.
	Own []netip.AddrPort
}

type class int

const (
	public class = iota
	loopback
	private
	never
)

// span is a range of addresses and why it is not public.
type span struct {
	netip.Prefix
	class class
	name  string
}

func in(prefix string, c class, name string) span {
	return span{netip.MustParsePrefix(prefix), c, name}
}

// table is read from the top; the first range that holds an address decides.
// It is never written.
var table = []span{
	// Clouds answer with credentials here, partly on public or private
	// addresses, so these come first.
	in("169.254.0.0/16", never, "a link-local address"),
	in("fe80::/10", never, "a link-local address"),
	in("fd00:ec2::/32", never, "a metadata address"),
	in("fd20:ce::/32", never, "a metadata address"),
	in("100.100.100.200/32", never, "a metadata address"),
	in("168.63.129.16/32", never, "a metadata address"),
	in("192.0.0.192/32", never, "a metadata address"),
	in("127.0.0.0/8", loopback, "a loopback address"),
	in("::1/128", loopback, "a loopback address"),
	in("0.0.0.0/8", never, "an unspecified address"),
	in("224.0.0.0/4", never, "a multicast address"),
	in("240.0.0.0/4", never, "a reserved address"),
	in("ff00::/8", never, "a multicast address"),
	in("64:ff9b::/96", never, "an address that carries another one"),
	in("64:ff9b:1::/48", never, "an address that carries another one"),
	in("2002::/16", never, "an address that carries another one"),
	in("2001::/32", never, "an address that carries another one"),
	in("::/96", never, "an address that carries another one"),
	in("::ffff:0:0:0/96", never, "an address that carries another one"),
	in("10.0.0.0/8", private, "a private address"),
	in("172.16.0.0/12", private, "a private address"),
	in("192.168.0.0/16", private, "a private address"),
	in("100.64.0.0/10", private, "a private address"),
	in("fc00::/7", private, "a private address"),
	in("fec0::/10", private, "a private address"),
	in("192.0.0.0/24", private, "a special-purpose address"),
	in("192.0.2.0/24", private, "a special-purpose address"),
	in("192.88.99.0/24", private, "a special-purpose address"),
	in("198.18.0.0/15", private, "a special-purpose address"),
	in("198.51.100.0/24", private, "a special-purpose address"),
	in("203.0.113.0/24", private, "a special-purpose address"),
	in("100::/64", private, "a special-purpose address"),
	in("2001::/23", private, "a special-purpose address"),
	in("2001:db8::/32", private, "a special-purpose address"),
	in("3fff::/20", private, "a special-purpose address"),
	in("5f00::/16", private, "a special-purpose address"),
}

// classify finds the class of an address that is unmapped and has no zone.
func classify(a netip.Addr) (class, string) {
	for _, s := range table {
		if s.Contains(a) {
			return s.class, s.name
		}
	}
	if a.Is6() && a.As16()[0]>>5 != 1 { // 2000::/3 is what is public
		return private, "an address outside the public range"
	}
	return public, ""
}

// trust is what is known about the name that led to an address.
type trust int

const (
	untrusted trust = iota
	listed          // named in AllowPrivate with this port
	localhost       // must lead to loopback
)

// Check says whether a connection to an address may be made, reached without
// a name. A refusal has the code endpoint_refused.
func (p Policy) Check(to netip.AddrPort) error { return p.check(to, p.trustOf(to.String())) }

func (p Policy) check(to netip.AddrPort, t trust) error {
	addr := to.Addr()
	if addr.Zone() != "" {
		return refuse("%s has a zone, which only link-local addresses have; they are never reached", to)
	}
	addr = addr.Unmap()
	to = netip.AddrPortFrom(addr, to.Port())
	if p.own(to) {
		return refuse("%s is this service's own address; name the address of a model server", to)
	}
	c, name := classify(addr)
	if c == never {
		return refuse("%s is %s, and those are never reached", to, name)
	}
	if t == listed || p.lists(to.String()) {
		return nil
	}
	switch {
	case c == loopback && p.AllowLoopback:
		return nil
	case t == localhost:
		return refuse("localhost leads to %s here, which this service may not reach", to)
	case c != public:
		return refuse("%s is %s; this service reaches it only when its operator starts it with evalrouterd serve --allow-private %s", to, name, to)
	case !p.publicPort(to.Port()):
		return refuse("port %d is not one that this service reaches; use 443, or let its operator start it with evalrouterd serve --allow-private %s", to.Port(), to)
	}
	return nil
}

// own says that an address leads back to this service. Every loopback address
// leads to a listener on any other.
func (p Policy) own(to netip.AddrPort) bool {
	return slices.ContainsFunc(p.Own, func(o netip.AddrPort) bool {
		addr := o.Addr().Unmap()
		return o.Port() == to.Port() && (addr == to.Addr() || addr.IsLoopback() && to.Addr().IsLoopback())
	})
}

func (p Policy) publicPort(port uint16) bool {
	return port == 443 || slices.Contains(p.AllowPorts, port)
}

// trustOf judges host:port before it is resolved.
func (p Policy) trustOf(hostport string) trust {
	host, _, err := net.SplitHostPort(hostport)
	switch {
	case err != nil:
		return untrusted
	case p.lists(hostport):
		return listed
	case isLocalhost(host):
		return localhost
	}
	return untrusted
}

func (p Policy) lists(hostport string) bool {
	want, ok := canonical(hostport)
	return ok && slices.ContainsFunc(p.AllowPrivate, func(s string) bool {
		have, ok := canonical(s)
		return ok && have == want
	})
}

// canonical is one spelling of host:port.
func canonical(hostport string) (string, bool) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || host == "" {
		return "", false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), strconv.FormatUint(n, 10)), true
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// refuse makes a refusal. Nothing was sent, and the sentence says what may
// be done instead.
func refuse(format string, args ...any) error {
	return core.Refuse(core.EndpointRefused, format+"; nothing was sent", args...)
}
