package netguard

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// errClear says that an address of the file would have its key sent readable by
// everybody on the way.
var errClear = errors.New("http sends the key in the clear; use https, or http to this machine or a private network")

// Mean takes an address that the guard refuses as meant, because the operator's
// file names it: a private one, or one at another port. A public name stays
// under the guard.
func (p *Policy) Mean(base string) (string, error) {
	if u, err := p.CheckURL(base); err == nil {
		return u.String(), nil
	}
	wider := *p
	wider.AllowPrivate = append(slices.Clone(p.AllowPrivate), HostOf(base))
	u, err := wider.CheckURL(base)
	switch {
	case err != nil:
		return "", err
	case u.Scheme == "http" && !nearby(u.Hostname()):
		return "", errClear
	}
	*p = wider
	return u.String(), nil
}

// nearby says whether a host is this machine or on a private network: by its
// address, or by a name that no public server has.
func nearby(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsPrivate() || ip.IsLoopback()
	}
	if !strings.Contains(host, ".") {
		return true
	}
	return slices.ContainsFunc([]string{".internal", ".local", ".lan", ".home.arpa", ".localhost"}, func(end string) bool { return strings.HasSuffix(host, end) })
}

// HostOf is the host and port of an address, "" for one that is none.
func HostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}
