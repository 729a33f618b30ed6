package netguard_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
)

// Where an address may be reached: on a server, on one whose operator listed
// it, and in the local service.
type reach struct{ server, listed, local bool }

var (
	everywhere   = reach{true, true, true}
	whereListed  = reach{false, true, false}
	onTheMachine = reach{false, true, true}
	nowhere      = reach{}
)

func refused(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, &core.Refusal{Code: core.EndpointRefused}) {
		t.Errorf("error without the code: %v", err)
	}
	return err != nil
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, addr string
		want       reach
	}{
		{"public", "1.1.1.1", everywhere},
		{"public, next to private", "172.32.0.1", everywhere},
		{"public, below private", "172.15.255.255", everywhere},
		{"public, below shared", "100.63.255.255", everywhere},
		{"public, above shared", "100.128.0.1", everywhere},
		{"public, above loopback", "128.0.0.1", everywhere},
		{"public v6", "2606:4700::1111", everywhere},
		{"public v4 mapped", "::ffff:1.1.1.1", everywhere},
		{"loopback", "127.0.0.1", onTheMachine},
		{"loopback, another", "127.8.9.10", onTheMachine},
		{"loopback, end", "127.255.255.255", onTheMachine},
		{"loopback v6", "::1", onTheMachine},
		{"loopback mapped", "::ffff:127.0.0.1", onTheMachine},
		{"ten", "10.0.0.5", whereListed},
		{"ten, end", "10.255.255.255", whereListed},
		{"one seven two", "172.16.0.1", whereListed},
		{"one seven two, end", "172.31.255.255", whereListed},
		{"one nine two", "192.168.1.1", whereListed},
		{"private mapped", "::ffff:192.168.1.1", whereListed},
		{"shared", "100.64.0.1", whereListed},
		{"unique local", "fd12:3456::1", whereListed},
		{"unique local, low", "fc00::1", whereListed},
		{"site local", "fec0::1", whereListed},
		{"benchmarking", "198.18.0.1", whereListed},
		{"benchmarking, end", "198.19.255.255", whereListed},
		{"protocol assignments", "192.0.0.8", whereListed},
		{"documentation 1", "192.0.2.1", whereListed},
		{"documentation 2", "198.51.100.1", whereListed},
		{"documentation 3", "203.0.113.1", whereListed},
		{"documentation v6", "2001:db8::1", whereListed},
		{"documentation v6, newer", "3fff::1", whereListed},
		{"discard", "100::1", whereListed},
		{"segment routing", "5f00::1", whereListed},
		{"anycast relay", "192.88.99.1", whereListed},
		{"not assigned", "4000::1", whereListed},
		{"orchid", "2001:10::1", whereListed},
		{"metadata", "169.254.169.254", nowhere},
		{"metadata mapped", "::ffff:169.254.169.254", nowhere},
		{"metadata of containers", "169.254.170.2", nowhere},
		{"metadata v6", "fd00:ec2::254", nowhere},
		{"metadata v6, another cloud", "fd20:ce::254", nowhere},
		{"metadata on a shared address", "100.100.100.200", nowhere},
		{"metadata on a public address", "168.63.129.16", nowhere},
		{"metadata on a protocol address", "192.0.0.192", nowhere},
		{"link local", "169.254.0.1", nowhere},
		{"link local v6", "fe80::1", nowhere},
		{"link local v6, end", "febf::1", nowhere},
		{"zone", "fe80::1%eth0", nowhere},
		{"zone on a public address", "2606:4700::1%eth0", nowhere},
		{"unspecified", "0.0.0.0", nowhere},
		{"this network", "0.1.2.3", nowhere},
		{"unspecified v6", "::", nowhere},
		{"unspecified mapped", "::ffff:0.0.0.0", nowhere},
		{"multicast", "224.0.0.1", nowhere},
		{"multicast, end", "239.255.255.255", nowhere},
		{"multicast v6", "ff02::1", nowhere},
		{"reserved", "240.0.0.1", nowhere},
		{"broadcast", "255.255.255.255", nowhere},
		{"translated metadata", "64:ff9b::a9fe:a9fe", nowhere},
		{"translated public", "64:ff9b::101:101", nowhere},
		{"translated, local prefix", "64:ff9b:1::a00:1", nowhere},
		{"6to4 of loopback", "2002:7f00:1::1", nowhere},
		{"6to4 of private", "2002:a00:1::", nowhere},
		{"teredo", "2001:0:4136:e378::1", nowhere},
		{"compatible loopback", "::7f00:1", nowhere},
		{"compatible public", "::101:101", nowhere},
		{"translated stateless", "::ffff:0:7f00:1", nowhere},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			to := netip.AddrPortFrom(netip.MustParseAddr(c.addr), 443)
			got := reach{
				server: !refused(t, netguard.Policy{}.Check(to)),
				listed: !refused(t, netguard.Policy{AllowPrivate: []string{to.String()}}.Check(to)),
				local:  !refused(t, netguard.Policy{AllowLoopback: true}.Check(to)),
			}
			if got != c.want {
				t.Errorf("%s is reached %+v, want %+v", c.addr, got, c.want)
			}
		})
	}
}

func TestCheck_Ports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, to string
		policy   netguard.Policy
		ok       bool
	}{
		{"public 443", "1.1.1.1:443", netguard.Policy{}, true},
		{"public 80", "1.1.1.1:80", netguard.Policy{}, false},
		{"public 22", "1.1.1.1:22", netguard.Policy{AllowLoopback: true}, false},
		{"public, added", "1.1.1.1:8443", netguard.Policy{AllowPorts: []uint16{8443}}, true},
		{"added port, private", "10.0.0.5:8443", netguard.Policy{AllowPorts: []uint16{8443}}, false},
		{"listed", "10.0.0.5:8000", netguard.Policy{AllowPrivate: []string{"10.0.0.5:8000"}}, true},
		{"listed, another port", "10.0.0.5:22", netguard.Policy{AllowPrivate: []string{"10.0.0.5:8000"}}, false},
		{"listed, another host", "10.0.0.6:8000", netguard.Policy{AllowPrivate: []string{"10.0.0.5:8000"}}, false},
		{"listed v6, another spelling", "[fd00::5]:8000", netguard.Policy{AllowPrivate: []string{"[fd00:0:0::5]:8000"}}, true},
		{"listed, asked mapped", "[::ffff:10.0.0.5]:8000", netguard.Policy{AllowPrivate: []string{"10.0.0.5:8000"}}, true},
		{"list that cannot be read", "10.0.0.5:8000", netguard.Policy{AllowPrivate: []string{"10.0.0.5", "10.0.0.5:", ":8000", "10.0.0.5:0x1f40"}}, false},
		{"loopback, any port", "127.0.0.1:11434", netguard.Policy{AllowLoopback: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := !refused(t, c.policy.Check(netip.MustParseAddrPort(c.to))); got != c.ok {
				t.Errorf("reached = %v", got)
			}
		})
	}
}

// Writing a v4 address as v6 changes nothing, and nothing that carries a v4
// address inside is reached, whatever the policy.
func TestCheck_Embedded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var b [4]byte
		for i := range b {
			b[i] = rapid.Byte().Draw(rt, "byte")
		}
		v4 := netip.AddrFrom4(b)
		p := netguard.Policy{AllowLoopback: rapid.Bool().Draw(rt, "local")}
		plainly := p.Check(netip.AddrPortFrom(v4, 443)) == nil
		if mapped := p.Check(netip.AddrPortFrom(netip.AddrFrom16(v4.As16()), 443)) == nil; mapped != plainly {
			rt.Fatalf("%s: %v plain, %v mapped", v4, plainly, mapped)
		}
		for _, prefix := range [][]byte{{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 12)} {
			a, _ := netip.AddrFromSlice(append(prefix, b[:]...))
			if a != netip.MustParseAddr("::1") && p.Check(netip.AddrPortFrom(a, 443)) == nil {
				rt.Fatalf("%s is reached", a)
			}
		}
	})
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	server, local := netguard.Policy{}, netguard.Policy{AllowLoopback: true}
	listed := netguard.Policy{AllowPrivate: []string{"10.0.0.5:8000", "vllm:8000"}}
	for _, c := range []struct {
		name   string
		policy netguard.Policy
		in     string
		want   string // "" = refused
	}{
		{"public", server, "https://api.openai.com/v1", "https://api.openai.com/v1"},
		{"slash at the end", server, "https://api.openai.com/v1/", "https://api.openai.com/v1"},
		{"upper case", server, "HTTPS://API.OpenAI.com/V1", "https://api.openai.com/V1"},
		{"port written out", server, "https://api.openai.com:443", "https://api.openai.com:443"},
		{"xn name", server, "https://xn--bcher-kva.example", "https://xn--bcher-kva.example"},
		{"public address", server, "https://1.1.1.1/v1", "https://1.1.1.1/v1"},
		{"public http", server, "http://api.openai.com/v1", ""},
		{"public http in the local service", local, "http://api.openai.com/v1", ""},
		{"public http address", local, "http://1.1.1.1:443", ""},
		{"other port", server, "https://api.openai.com:8443", ""},
		{"other port, added", netguard.Policy{AllowPorts: []uint16{8443}}, "https://api.openai.com:8443", "https://api.openai.com:8443"},
		{"loopback", local, "http://127.0.0.1:11434", "http://127.0.0.1:11434"},
		{"loopback v6", local, "http://[::1]:8080/v1", "http://[::1]:8080/v1"},
		{"localhost", local, "http://localhost:1234/v1", "http://localhost:1234/v1"},
		{"localhost, sub", local, "http://a.localhost:1234", "http://a.localhost:1234"},
		{"localhost, https", local, "https://localhost:1234", "https://localhost:1234"},
		{"loopback on a server", server, "http://127.0.0.1:8000", ""},
		{"localhost on a server", server, "http://localhost:8000", ""},
		{"localhost with dot on a server", server, "https://localhost.", ""},
		{"private", server, "https://10.0.0.5/v1", ""},
		{"private in the local service", local, "http://192.168.1.20:8000", ""},
		{"listed", listed, "http://10.0.0.5:8000/v1", "http://10.0.0.5:8000/v1"},
		{"listed name", listed, "http://vllm:8000", "http://vllm:8000"},
		{"listed name, other port", listed, "http://vllm:8001", ""},
		{"metadata", listed, "http://169.254.169.254", ""},
		{"metadata in the local service", local, "http://169.254.169.254", ""},
		{"metadata, v6", local, "http://[fd00:ec2::254]", ""},
		{"decimal address", local, "http://2130706433", ""},
		{"hexadecimal address", local, "http://0x7f000001", ""},
		{"hexadecimal part", local, "http://127.0.0.0x1", ""},
		{"octal address", local, "http://0177.0.0.1:80", ""},
		{"short address", local, "http://127.1", ""},
		{"long address", local, "http://127.0.0.1.1", ""},
		{"zone", local, "http://[fe80::1%25eth0]:80", ""},
		{"password", server, "https://user:hunter2@api.openai.com", ""},
		{"user", server, "https://user@api.openai.com", ""},
		{"query", server, "https://api.openai.com/v1?key=hunter2", ""},
		{"empty query", server, "https://api.openai.com/v1?", ""},
		{"fragment", server, "https://api.openai.com/v1#hunter2", ""},
		{"empty fragment", server, "https://api.openai.com/v1#", ""},
		{"no scheme", server, "api.openai.com/v1", ""},
		{"other scheme", server, "file:///etc/passwd", ""},
		{"gopher", server, "gopher://api.openai.com", ""},
		{"opaque", server, "https:api.openai.com", ""},
		{"no host", server, "https:///v1", ""},
		{"empty", server, "", ""},
		{"empty port", server, "https://api.openai.com:", ""},
		{"port zero", server, "https://api.openai.com:0", ""},
		{"port too large", server, "https://api.openai.com:99999", ""},
		{"space", server, "https://api.openai.com /v1", ""},
		{"line break", server, "https://api.openai.com\r\nHost: x", ""},
		{"unicode dots", server, "https://127。0。0。1", ""},
		{"full-width digits", server, "https://１２７.0.0.1", ""},
		{"escaped host", server, "https://%31%32%37.0.0.1", ""},
		{"escaped name", server, "https://api%2eopenai.com", ""},
		{"empty label", server, "https://api..openai.com", ""},
		{"backslash", server, `https://api.openai.com\@evil.example`, ""},
		{"very long", server, "https://api.openai.com/" + strings.Repeat("a", 3000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, err := c.policy.CheckURL(c.in)
			if refused(t, err) != (c.want == "") {
				t.Fatalf("%s: %v, %v", c.in, u, err)
			}
			if err != nil {
				if strings.Contains(err.Error(), "hunter2") || !strings.HasSuffix(err.Error(), "nothing was sent") {
					t.Errorf("message %q", err)
				}
				return
			}
			if u.String() != c.want {
				t.Errorf("%s became %s, want %s", c.in, u, c.want)
			}
			if again, err := c.policy.CheckURL(u.String()); err != nil || again.String() != u.String() {
				t.Errorf("the plain form changes: %v, %v", again, err)
			}
		})
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://api.openai.com/v1", "http://127.0.0.1:1", "https://[::1]", "https://a@b", "http://0x7f.1", "https://%5b::1%5d"} {
		f.Add(s)
	}
	for _, v := range vectors(f) {
		f.Add(strings.ReplaceAll(v.URL, "{port}", "443"))
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := netguard.Policy{}.CheckURL(s)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Hostname() == "" {
			t.Errorf("%q passed as %s", s, u)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && (netguard.Policy{}).Check(netip.AddrPortFrom(a, 443)) != nil {
			t.Errorf("%q passed as %s", s, u)
		}
	})
}

// TestOwn keeps the service from calling itself, under every name that leads
// there, on a listed address too; its neighbours stay reachable.
func TestOwn(t *testing.T) {
	t.Parallel()
	p := netguard.Policy{
		AllowLoopback: true, AllowPrivate: []string{"192.168.1.9:7788", "192.168.1.9:8000"},
		Own: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7788"), netip.MustParseAddrPort("192.168.1.9:7788")},
	}
	for _, c := range []struct {
		name, url string
		refused   bool
	}{
		{"loopback", "http://127.0.0.1:7788/v1", true},
		{"another loopback", "http://127.0.0.2:7788", true},
		{"loopback v6", "http://[::1]:7788/v1", true},
		{"mapped", "http://[::ffff:127.0.0.1]:7788/v1", true},
		{"localhost", "http://LocalHost:7788/v1", true},
		{"below localhost", "https://er.localhost:7788/v1", true},
		{"listed", "http://192.168.1.9:7788/v1", true},
		{"another port", "http://127.0.0.1:7789/v1", false},
		{"localhost, another port", "http://localhost:11434/v1", false},
		{"listed, another port", "http://192.168.1.9:8000/v1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := p.CheckURL(c.url)
			if refused(t, err) != c.refused || err != nil && !strings.Contains(err.Error(), "own address") {
				t.Errorf("%s: %v", c.url, err)
			}
		})
	}
	// A name that leads here is refused when it is connected to.
	for _, to := range []string{"127.0.0.1:7788", "[::1]:7788", "192.168.1.9:7788"} {
		if !refused(t, p.Check(netip.MustParseAddrPort(to))) {
			t.Errorf("%s can be connected to", to)
		}
	}
}
