// Command faultproxy stands between a client and a server on this machine and spoils chosen answers:
//
//	faultproxy -target http://127.0.0.1:7788 -drop-response 'POST /v1/runs' -times 1
//
// It prints its base URL once it listens, then one line for each request that it spoiled. See internal/fault.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/fault"
	"github.com/evalrouter/evalrouter/scripts/internal/loopback"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var rules []fault.Rule
	var endpoint loopback.Endpoint
	flags := flag.NewFlagSet("faultproxy", flag.ContinueOnError)
	flags.SetOutput(stderr)
	target := flags.String("target", "", "base URL of the server, on this machine")
	times := flags.Int("times", 1, "how many requests each rule spoils, 0 for all")
	by := flags.Duration("by", time.Second, "how long -delay delays")
	add := func(kind fault.Kind) func(string) error {
		return func(s string) error {
			rule, err := fault.ParseMatch(s)
			rule.Kind = kind
			rules = append(rules, rule)
			return err
		}
	}
	flags.Func("drop-response", "lose the answer to `'METHOD /path'` after the server gave it; repeatable", add(fault.Drop))
	flags.Func("delay", "delay `'METHOD /path'`; repeatable", add(fault.Delay))
	flags.Func("refuse", "answer 503 to `'METHOD /path'`; repeatable", add(fault.Refuse))
	flags.StringVar(&endpoint.Addr, "addr", "127.0.0.1:0", "loopback address to listen on")
	flags.StringVar(&endpoint.Ready, "ready", "", "file that receives the base URL")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	base, err := parseTarget(*target)
	if err != nil {
		fmt.Fprintln(stderr, "faultproxy:", err)
		return 2
	}
	for i := range rules {
		rules[i].Times, rules[i].By = *times, *by
	}
	endpoint.Out = stdout
	endpoint.Handler = fault.New(base, rules, stdout)
	if err := endpoint.Serve(ctx); err != nil {
		fmt.Fprintln(stderr, "faultproxy:", err)
		return 1
	}
	return 0
}

func parseTarget(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("read target: %w", err)
	}
	if u.Scheme != "http" || u.Port() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("read target %q: write it as http://127.0.0.1:PORT", s)
	}
	return u, loopback.Check(u.Host)
}
