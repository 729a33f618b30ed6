package netguard

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const maxURL = 2048

// CheckURL judges a base URL as a user gives it, without resolving or
// connecting: https to public hosts; http only where nothing leaves the
// machine, or to what the operator lists. The refusal never repeats the URL,
// which may hold a password. It returns the URL in its plain form.
func (p Policy) CheckURL(base string) (*url.URL, error) {
	u, err := parseBase(base)
	if err != nil {
		return nil, err
	}
	host, port := u.Hostname(), portOf(u)
	hostport := net.JoinHostPort(host, strconv.Itoa(int(port)))
	t := p.trustOf(hostport)
	addr, err := netip.ParseAddr(host)
	literal := err == nil
	local := isLocalhost(host) || literal && addr.Unmap().IsLoopback()
	switch {
	case literal:
		err = p.check(netip.AddrPortFrom(addr, port), t)
	case t == listed:
		err = nil
	case t == localhost:
		if err = nil; p.own(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)) {
			err = refuse("localhost:%d is this service's own address; name the address of a model server", port)
		} else if !p.AllowLoopback {
			err = refuse("localhost is this service's own machine, which only a local service may reach")
		}
	default:
		if err = nil; !p.publicPort(port) {
			err = refuse("port %d is not one that this service reaches; use 443 or ask its operator to add the port", port)
		}
	}
	if err != nil {
		return nil, err
	}
	if u.Scheme == "http" && !local && t != listed {
		return nil, refuse("http sends the key in the clear; use https, or http to a loopback address of a local service")
	}
	return u, nil
}

// parseBase accepts scheme, host, port and path, and nothing else.
func parseBase(base string) (*url.URL, error) {
	if len(base) > maxURL {
		return nil, refuse("the base URL is longer than %d characters", maxURL)
	}
	for _, c := range []byte(base) {
		if c <= ' ' || c >= 0x7f {
			return nil, refuse("the base URL holds spaces, control characters or letters outside ASCII; write an international host name in its xn-- form")
		}
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, refuse("the base URL cannot be read as an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse("the base URL must begin with https:// (or http:// for a local endpoint)")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, refuse("the base URL has no host")
	case u.User != nil:
		return nil, refuse("the base URL holds a user name or password; give the key by itself")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, refuse("the base URL holds a query; leave out everything from the question mark on")
	case strings.Contains(base, "#"):
		return nil, refuse("the base URL holds a fragment; leave out everything from the # on")
	}
	if err := checkHost(u); err != nil {
		return nil, err
	}
	u.Host = strings.ToLower(u.Host)
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func checkHost(u *url.URL) error {
	host := u.Hostname()
	if strings.HasSuffix(u.Host, ":") || u.Port() != "" && portOf(u) == 0 {
		return refuse("the base URL has no usable port")
	}
	if strings.HasPrefix(u.Host, "[") {
		if a, err := netip.ParseAddr(host); err != nil || a.Zone() != "" {
			return refuse("the base URL holds no usable IPv6 address")
		}
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return refuse("the base URL holds no usable host name")
		}
	}
	// Some resolvers read 2130706433, 0x7f.1 and 127.1 as addresses.
	if last := strings.ToLower(labels[len(labels)-1]); strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return refuse("the host looks like an IPv4 address that is not written as four decimal numbers")
	}
	return nil
}

// portOf is the port, by scheme when none is given; 0 when it is none.
func portOf(u *url.URL) uint16 {
	if u.Port() == "" {
		if u.Scheme == "http" {
			return 80
		}
		return 443
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}
