package front

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses from which declared proxies speak. The zero value
// is none.
type Proxies []netip.Prefix

// ParseProxies reads addresses and networks, as 192.0.2.7 or 10.0.0.0/24.
func ParseProxies(texts []string) (Proxies, error) {
	var out Proxies
	for _, t := range texts {
		p, err := netip.ParsePrefix(t)
		if err != nil {
			addr, err := netip.ParseAddr(t)
			if err != nil || addr.Zone() != "" {
				return nil, fmt.Errorf("%q is neither an address nor a network", t)
			}
			p = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen())
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("%q is everybody, who cannot be a declared proxy", t)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Has says whether an address is a declared proxy's.
func (p Proxies) Has(addr netip.Addr) bool {
	for _, n := range p {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

// peer is the address at the other end of a connection; ok is false for what is
// no address.
func peer(from net.Addr) (netip.Addr, bool) {
	at, err := netip.ParseAddrPort(from.String())
	return at.Addr().Unmap().WithZone(""), err == nil
}

// forwarded are the headers in which proxies speak for others.
func forwarded() []string {
	return []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}
}

// attribute makes RemoteAddr the client's. Headers of peers that are no
// declared proxy go away. The port is 0 where a proxy speaks for a client.
func (p Proxies) attribute(r *http.Request) {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.Has(at.Addr().Unmap().WithZone("")) {
		for _, h := range forwarded() {
			r.Header.Del(h)
		}
		return
	}
	if client, ok := p.client(r.Header.Values("X-Forwarded-For")); ok {
		r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	}
}

// client is the last address that is no declared proxy's. Left of it stands
// what the client itself may have written.
func (p Proxies) client(lines []string) (netip.Addr, bool) {
	list := strings.Split(strings.Join(lines, ","), ",")
	for i := len(list) - 1; i >= 0; i-- {
		addr, ok := address(strings.TrimSpace(list[i]))
		if !ok {
			return netip.Addr{}, false
		}
		if !p.Has(addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// address reads one hop; some proxies add the port.
func address(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		at, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = at.Addr()
	}
	return addr.Unmap().WithZone(""), true
}
