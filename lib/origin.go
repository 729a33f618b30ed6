package evalrouter

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Origin is the scheme and host of a base URL by the rules of Config.BaseURL,
// for callers that compare origins or speak to one themselves.
func Origin(baseURL string, allowHTTP bool) (string, error) {
	u, err := parseOrigin(baseURL, allowHTTP)
	if err != nil {
		return "", err
	}
	return strings.ToLower(u.String()), nil
}

// parseOrigin reads a base URL into scheme and host. The text is never part
// of an error: it may hold a password by mistake.
func parseOrigin(raw string, allowHTTP bool) (*url.URL, error) {
	if raw == "" {
		return nil, configError("the base URL is missing; give an origin such as https://api.evalrouter.ai")
	}
	if !graphic(raw, 2048) || strings.ContainsAny(raw, `\?#@`) {
		return nil, configError("the base URL must be a plain origin, without spaces, user name, query or fragment")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return nil, configError("the base URL is not a URL such as https://api.evalrouter.ai")
	}
	if p := strings.TrimRight(u.EscapedPath(), "/"); p != "" && p != "/v1" {
		return nil, configError("the base URL may end in /v1 and must have no other path")
	}
	if !validPort(u) {
		return nil, configError("the port of the base URL must be between 1 and 65535")
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme != "http":
		return nil, configError("the base URL must begin with https://")
	case !loopback(u.Hostname()):
		return nil, configError("plain http is allowed for loopback addresses only; use https://")
	case !allowHTTP:
		return nil, configError("plain http to a loopback address must be allowed explicitly: with --allow-http, or AllowHTTP in a program")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

func validPort(u *url.URL) bool {
	p := u.Port()
	if p == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.Atoi(p)
	return err == nil && n >= 1 && n <= 65535
}

// loopback accepts the three spellings that cannot leave the machine by
// mistake: no other names, no octal or short forms of addresses.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() != "" {
		return false
	}
	return a.Is4() && a.IsLoopback() || a == netip.IPv6Loopback()
}

// graphic says that s has 1 to limit characters from ! to ~.
func graphic(s string, limit int) bool { return within(s, limit, 0x21) }

// printable is graphic with spaces allowed.
func printable(s string, limit int) bool { return within(s, limit, 0x20) }

func within(s string, limit int, low byte) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < low || s[i] > 0x7E {
			return false
		}
	}
	return true
}

func configError(message string) *Error {
	return &Error{Problem: Problem{Code: api.InvalidConfiguration, Message: message}}
}

func inputError(message string) *Error {
	return &Error{Problem: Problem{Code: api.InvalidInput, Message: message}}
}
