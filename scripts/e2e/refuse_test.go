package e2e_test

import (
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bad input gets a clear sentence and a code, and nothing happens.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("evalrouter", "local", "start")
	malformed := filepath.Join(s.home, "quote.json")
	write(t, malformed, `{"model": {"kind": "managed", "route_id": "practice.solver-0.8"}, "selection": {"profile_ids": ["arithmetic@1"]}, "max_charge_microusd": "1", "max_charge_microusd": "9000000"}`)
	misspelt := filepath.Join(s.home, "misspelt.json")
	write(t, misspelt, `{"model": {"kind": "managed", "route_id": "practice.solver-0.8"}, "selection": {"profile_ids": ["arithmetic@1"]}, "max_charge_microusdd": "1"}`)
	taken := filepath.Join(s.home, "taken.json")
	write(t, taken, "mine")
	done := decode[run](t, s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.8", "--sample", "3", "--max-cost", "1", "--yes", "--json").stdout)

	for _, tt := range []struct {
		name string
		exit int
		code string
		also []string
		args []string
	}{
		{"an unknown benchmark", 2, "benchmark_unknown", []string{"arithmetic"}, []string{"run", "aritmetic", "--model", "practice.solver-0.8", "--max-cost", "1", "--yes"}},
		{"an unknown model", 2, "model_unknown", []string{"practice.solver-0.8"}, []string{"run", "arithmetic", "--model", "practice.solvr-0.8", "--max-cost", "1", "--yes"}},
		{"a cap below one task", 2, "cap_below_minimum", []string{"$"}, []string{"run", "arithmetic", "--model", "practice.solver-0.8", "--max-cost", "0.000001", "--yes"}},
		{"unattended without a cap", 2, "unattended_refused", []string{"--max-cost"}, []string{"run", "arithmetic", "--model", "practice.solver-0.8", "--yes"}},
		{"unattended without a yes", 2, "unattended_refused", []string{"--yes"}, []string{"run", "arithmetic", "--model", "practice.solver-0.8", "--max-cost", "1"}},
		{"a quote file that says the cap twice", 2, "invalid_", []string{"max_charge_microusd"}, []string{"quote", "--config", malformed, "--json"}},
		{"a quote file with a misspelt field", 2, "invalid_", []string{"max_charge_microusdd"}, []string{"quote", "--config", misspelt, "--json"}},
		{"a quote file that is not there", 2, "invalid_", nil, []string{"quote", "--config", filepath.Join(s.home, "none.json")}},
		{"an output file that exists", 2, "destination_exists", []string{taken}, []string{"export", done.ID, "--format", "json", "--output", taken}},
		{"an unknown run", 2, "run_unknown", nil, []string{"results", "ffffffff"}},
		{"an unknown command", 2, "command_unknown", []string{"catalog"}, []string{"catalogue"}},
		{"the money flag twice", 2, "invalid_input", []string{"--max-cost"}, []string{"run", "arithmetic", "--model", "practice.solver-0.8", "--max-cost", "1", "--max-cost", "50", "--yes"}},
	} {
		out := s.refused(tt.exit, tt.code, "evalrouter", tt.args...)
		contains(t, tt.name, out.stdout+out.stderr, tt.also...)
	}
	if b, err := os.ReadFile(taken); err != nil || string(b) != "mine" {
		t.Errorf("the existing file was touched: %q, %v", b, err)
	}
	if list := decode[struct{ Data []run }](t, s.ok("evalrouter", "status", "--json").stdout); len(list.Data) != 1 {
		t.Errorf("%d runs after refusals", len(list.Data))
	}
	s.audit()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An endpoint that cannot be reached fails the run with exit 1 and charges nothing.
func TestRefusals_UnreachableEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	closed := httptest.NewServer(nil)
	url := closed.URL
	closed.Close()
	made := s.ok("evalrouter", "connections", "create", "--name", "gone", "--endpoint", url+"/v1", "--model", "m", "--price-in", "1", "--price-out", "1", "--no-key", "--json")
	id := decode[struct{ ID string }](t, made.stdout).ID
	out := s.refused(1, "", "evalrouter", "connections", "check", id)
	contains(t, "the check", out.stdout+out.stderr, "gone")
	s.audit()
}

// The service says why it cannot start.
func TestRefusals_Service(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other := filepath.Join(s.home, "other")
	out := s.refused(2, "port_taken", "evalrouterd", "serve", "--data", other, "--addr", l.Addr().String())
	contains(t, "the taken port", out.stderr, l.Addr().String(), "--addr")

	s.ok("evalrouter", "local", "start")
	out = s.refused(2, "data_dir_in_use", "evalrouterd", "local", "--data", s.data(), "--port", "0")
	contains(t, "the directory in use", out.stderr, s.data())

	if os.Geteuid() == 0 {
		// Root may write anywhere but below a file.
		file := filepath.Join(s.home, "file")
		write(t, file, "")
		s.refused(2, "data_dir_unwritable", "evalrouterd", "serve", "--data", filepath.Join(file, "data"), "--addr", "127.0.0.1:0")
		return
	}
	closed := filepath.Join(s.home, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	s.refused(2, "data_dir_unwritable", "evalrouterd", "serve", "--data", filepath.Join(closed, "data"), "--addr", "127.0.0.1:0")
}

// The command line stays small: what it may not link is not in it. The bar is that
// of the product; pages of comparisons, which it makes offline, take 4 MiB of it.
func TestBinary_IsSmall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	info, err := os.Stat(filepath.Join(s.bin, "evalrouter"))
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(14 << 20); info.Size() > limit {
		t.Errorf("bin/evalrouter has %d bytes, at most %d are allowed", info.Size(), limit)
	}
	if out := s.ok("evalrouter", "--version"); !strings.HasPrefix(out.stdout, "evalrouter ") {
		t.Errorf("--version prints %q", out.stdout)
	}
}
