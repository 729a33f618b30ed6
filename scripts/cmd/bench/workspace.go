package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hinshun/vt10x"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/scripts/internal/pty"
)

// The terminal of the measurements, and how long one of them may take.
const (
	workspaceColumns, workspaceRows = 200, 50
	late                            = 2 * time.Minute
)

// frameEnd is what the terminal library sends behind every frame.
const frameEnd = "\x1b[?2026l"

// workspaceBench measures the workspace as a person meets it: the built program
// behind a terminal, over a service in this process.
func workspaceBench(args []string) error {
	n := 200
	if len(args) > 0 {
		if _, err := fmt.Sscan(args[0], &n); err != nil || n < 20 {
			return errUsage
		}
	}
	dir, err := os.MkdirTemp("", "bench-workspace-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	parts := map[string]func(string, string, int) error{"resting": resting, "scrolling": scrolling, "choosing": choosing, "flooding": flooding}
	programs := append([]string{"bin/evalrouter-tui"}, args[min(len(args), 2):]...)
	for _, name := range []string{"opening", "resting", "scrolling", "choosing", "flooding"} {
		if len(args) >= 2 && args[1] != name {
			continue
		}
		if name == "opening" {
			if err := opening(dir, programs, n); err != nil {
				return err
			}
			continue
		}
		for _, program := range programs {
			if len(programs) > 1 {
				fmt.Println(program)
			}
			if err := parts[name](dir, program, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// opening is from the start of the process to the first frame with the menu, in
// turns of all programs: what the machine does beside is the same for each. A
// process that ends after its first line says what the system itself takes.
func opening(dir string, programs []string, n int) error {
	f := apitest.NewFake(apitest.Options{})
	defer f.Close()
	took, used, least := make([][]time.Duration, len(programs)), make([][]time.Duration, len(programs)), []time.Duration{}
	for round := range n/4 + 3 {
		for i, program := range programs {
			x, err := open(dir, program, f)
			if err != nil {
				return err
			}
			at, err := x.until("Run a benchmark")
			if err = errors.Join(err, x.leave()); err != nil {
				return err
			}
			if round >= 3 {
				took[i], used[i] = append(took[i], at.Sub(x.began)), append(used[i], x.firstCPU)
			}
		}
		began := time.Now()
		if err := exec.Command(programs[0], "--version").Run(); err != nil {
			return err
		}
		if round >= 3 {
			least = append(least, time.Since(began))
		}
	}
	for i, program := range programs {
		if len(programs) > 1 {
			fmt.Println(program)
		}
		spread("first paint, from the start of the process", took[i])
		spread("CPU of the process until then", used[i])
	}
	spread("start and end of --version, in between", least)
	return nil
}

// resting is what the workspace costs while nobody does anything: on Home, and
// watching a run that goes on slowly.
func resting(dir, program string, _ int) error {
	f := apitest.NewFake(apitest.Options{TaskTime: 30 * time.Second})
	defer f.Close()
	if err := begin(dir, f); err != nil {
		return err
	}
	for _, place := range []struct{ name, at, shows string }{{"on Home", "", "1 run"}, {"watching a run", "runs", "running"}} {
		x, err := open(dir, program, f, place.at)
		if err != nil {
			return err
		}
		if _, err = x.until(place.shows); err == nil && place.at != "" {
			_, _, err = x.press("\r", "Leaving this page")
		}
		if err != nil {
			return errors.Join(err, x.leave())
		}
		const span = 20 * time.Second
		x.watch(2 * time.Second) // what was being read
		before := cpuNow(x.pid())
		x.watch(span)
		used := cpuNow(x.pid()) - before
		rss := peakNow(x.pid())
		if err := x.leave(); err != nil {
			return err
		}
		fmt.Printf("%-46s CPU %.2f %% of one core over %.0f s   peak RSS %.1f MiB\n", "idle "+place.name, 100*used/span.Seconds(), span.Seconds(), float64(rss)/(1<<20))
	}
	return nil
}

// scrolling is a list of a hundred thousand models.
func scrolling(dir, program string, n int) error {
	f := apitest.NewFake(apitest.Options{})
	defer f.Close()
	large, err := crowd(f, 100_000)
	if err != nil {
		return err
	}
	defer large.Close()
	f.URL = large.URL
	x, err := open(dir, program, f, "models")
	if err != nil {
		return err
	}
	defer x.leave()
	if _, err := x.until("100000 of 100000", "100,000 of 100,000"); err != nil {
		return err
	}
	var moved, paged, typed, cleared keyTimes
	for i := range n {
		for _, k := range []struct {
			keys string
			into *keyTimes
		}{{"\x1b[B", &moved}, {"\x1b[6~", &paged}, {string(rune('1' + i%9)), &typed}, {"\x15", &cleared}} {
			if err := k.into.add(x.press(k.keys, "")); err != nil {
				return err
			}
		}
	}
	moved.print("100,000 rows: Down to its frame")
	paged.print("100,000 rows: PgDn to its frame")
	typed.print("100,000 rows: a filter's letter to its frame")
	cleared.print("100,000 rows: Ctrl+U to its frame")
	fmt.Printf("%-46s peak RSS %.1f MiB\n", "100,000 rows", float64(peakNow(x.pid()))/(1<<20))
	return nil
}

// choosing is the checklist of a run with a hundred thousand models.
func choosing(dir, program string, n int) error {
	f := apitest.NewFake(apitest.Options{})
	defer f.Close()
	large, err := crowd(f, 100_000)
	if err != nil {
		return err
	}
	defer large.Close()
	f.URL = large.URL
	x, err := open(dir, program, f, "run")
	if err != nil {
		return err
	}
	defer x.leave()
	if _, err := x.until("arithmetic@1"); err != nil {
		return err
	}
	if _, _, err := x.press("\r", "100000 of 100000"); err != nil {
		return err
	}
	var marked keyTimes
	for range n {
		if err := marked.add(x.press(" ", "")); err != nil {
			return err
		}
	}
	marked.print("100,000 models of a run: Space to its frame")
	fmt.Printf("%-46s peak RSS %.1f MiB\n", "100,000 models of a run", float64(peakNow(x.pid()))/(1<<20))
	return nil
}

// crowd is the service with so many models, which are one of its own under other
// names.
func crowd(f *apitest.Fake, many int) (*httptest.Server, error) {
	origin, err := url.Parse(f.URL)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(origin))
	for path, query := range map[string]string{"/v1/catalog/models": "", "/v1/catalog/compatibility": "&profile_id=arithmetic@1"} {
		one, err := first(f, path+"?limit=1"+query)
		if err != nil {
			return nil, err
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
			var out api.Page[map[string]any]
			for i := at; i < min(at+200, many); i++ {
				m := maps.Clone(one)
				m["id"], m["display_name"] = fmt.Sprintf("crowd.model-%06d", i), fmt.Sprintf("Model %06d of a crowd", i)
				out.Data = append(out.Data, m)
			}
			if next := strconv.Itoa(at + 200); at+200 < many {
				out.NextCursor = &next
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out) // whoever asked has gone
		})
	}
	return httptest.NewServer(mux), nil
}

// first is the first record of a list.
func first(f *apitest.Fake, list string) (map[string]any, error) {
	req, err := http.NewRequest(http.MethodGet, f.URL+list, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+f.Token)
	req.Header.Set("X-Workspace-Id", f.WorkspaceID)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var page api.Page[map[string]any]
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil || len(page.Data) == 0 {
		return nil, fmt.Errorf("read %s: %s, %v", list, resp.Status, err)
	}
	return page.Data[0], nil
}

// flooding is a run of a thousand events a second, watched.
func flooding(dir, program string, n int) error {
	f := apitest.NewFake(apitest.Options{TaskTime: 3 * time.Millisecond, Tasks: 100_000, Credits: 1000 * usd.Dollar})
	defer f.Close()
	if err := begin(dir, f); err != nil {
		return err
	}
	x, err := open(dir, program, f, "runs")
	if err != nil {
		return err
	}
	defer x.leave()
	if _, err := x.until("running"); err != nil {
		return err
	}
	if _, _, err := x.press("\r", "Leaving this page"); err != nil {
		return err
	}
	x.watch(3 * time.Second)
	cpuBefore, frames, began := cpuNow(x.pid()), x.frames, time.Now()
	var took keyTimes
	for range n / 2 {
		for _, k := range [][2]string{{"\x1bOP", "Keys everywhere"}, {"\x1bOP", "Leaving this page"}} {
			if err := took.add(x.press(k[0], k[1])); err != nil {
				return err
			}
		}
	}
	x.watch(5 * time.Second)
	span := time.Since(began).Seconds()
	took.print("1,000 events/s: F1 to its frame, and back")
	fmt.Printf("%-46s CPU %.1f %% of one core, %.1f frames/s over %.0f s   peak RSS %.1f MiB\n", "1,000 events/s", 100*(cpuNow(x.pid())-cpuBefore)/span,
		float64(x.frames-frames)/span, span, float64(peakNow(x.pid()))/(1<<20))
	return nil
}

// spread prints how a measurement was distributed.
func spread(what string, took []time.Duration) {
	slices.Sort(took)
	fmt.Printf("%-46s median %6.2f  p99 %6.2f  max %6.2f ms   (%d)\n", what, ms(took[len(took)/2]), ms(took[min(len(took)*99/100, len(took)-1)]), ms(took[len(took)-1]), len(took))
}

// surroundings are those of one person at a service.
func surroundings(dir string, f *apitest.Fake) []string {
	return []string{
		"HOME=" + dir, "PATH=/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "EVALROUTER_NO_BROWSER=1", "EVALROUTER_NO_UPDATE_CHECK=1",
		"EVALROUTER_BASE_URL=" + f.URL, "EVALROUTER_API_KEY=" + f.Token, "EVALROUTER_WORKSPACE_ID=" + f.WorkspaceID,
	}
}

// begin starts a run of everything.
func begin(dir string, f *apitest.Fake) error {
	quote := filepath.Join(dir, "quote.json")
	text := `{"model": {"kind": "managed", "route_id": "practice.solver-80"}, "selection": {"profile_ids": ["arithmetic@1"]}, "coverage": {"mode": "full"}, "max_charge_microusd": "90000000"}`
	if err := os.WriteFile(quote, []byte(text), 0o600); err != nil {
		return err
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command("bin/evalrouter", append(args, "--json", "--allow-http")...)
		cmd.Env = surroundings(dir, f)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("run evalrouter %s: %w\n%s", args[0], err, out)
		}
		return out, nil
	}
	out, err := run("quote", "--config", quote)
	if err != nil {
		return err
	}
	var q struct{ ID string }
	if err := json.Unmarshal(out, &q); err != nil {
		return err
	}
	_, err = run("run", "--quote", q.ID, "--idempotency-key", "bench-"+q.ID)
	return err
}

// opened is the workspace behind a terminal.
type opened struct {
	ctrl   *os.File
	cmd    *exec.Cmd
	began  time.Time
	pieces chan piece
	vt     vt10x.Terminal
	frames int
	// firstCPU is what the process had used when its first frame had arrived.
	firstCPU time.Duration
}

// piece is what came at a time; last says that a frame ended in it, and used is
// the CPU time of the process when that was the first one.
type piece struct {
	at   time.Time
	text []byte
	last bool
	used time.Duration
}

func open(dir, program string, f *apitest.Fake, at ...string) (*opened, error) {
	ctrl, tty, err := pty.Open(workspaceColumns, workspaceRows)
	if err != nil {
		return nil, err
	}
	args := []string{"--allow-http"}
	if len(at) > 0 && at[0] != "" {
		args = append(args, "--at", at[0])
	}
	x := &opened{ctrl: ctrl, cmd: exec.Command(program, args...), pieces: make(chan piece, 1<<16), vt: vt10x.New(vt10x.WithSize(workspaceColumns, workspaceRows))}
	x.cmd.Env, x.cmd.SysProcAttr = surroundings(dir, f), pty.Own()
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = tty, tty, tty
	x.began = time.Now()
	if err := errors.Join(x.cmd.Start(), tty.Close()); err != nil {
		return nil, errors.Join(err, ctrl.Close())
	}
	go x.read()
	return x, nil
}

func (x *opened) pid() int { return x.cmd.Process.Pid }

func (x *opened) read() {
	defer close(x.pieces)
	buf, framed := make([]byte, 1<<16), false
	for {
		n, err := x.ctrl.Read(buf)
		if n > 0 {
			p := piece{time.Now(), bytes.Clone(buf[:n]), bytes.Contains(buf[:n], []byte(frameEnd)), 0}
			if p.last && !framed {
				framed, p.used = true, usedBy(x.pid())
			}
			x.pieces <- p
		}
		if err != nil {
			return
		}
	}
}

func (x *opened) take(p piece) {
	_, _ = x.vt.Write(p.text)
	x.frames += bytes.Count(p.text, []byte(frameEnd))
	x.firstCPU = max(x.firstCPU, p.used)
}

// until waits for a frame with one of the texts, and gives the time at which it
// had arrived.
func (x *opened) until(texts ...string) (time.Time, error) {
	deadline := time.After(late)
	for {
		select {
		case p, ok := <-x.pieces:
			if !ok {
				return time.Time{}, fmt.Errorf("the workspace ended:\n%s", x.vt.String())
			}
			x.take(p)
			screen := x.vt.String()
			if p.last && slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(screen, s) }) {
				return p.at, nil
			}
		case <-deadline:
			return time.Time{}, fmt.Errorf("%q does not appear:\n%s", texts, x.vt.String())
		}
	}
}

// press types keys and gives the time to the end of the next frame, or of the
// one with a text, and the CPU time that the process used until then.
func (x *opened) press(keys, text string) (took, used time.Duration, err error) {
	x.watch(20 * time.Millisecond) // whatever is on its way
	before, began := usedBy(x.pid()), time.Now()
	if _, err := x.ctrl.WriteString(keys); err != nil {
		return 0, 0, err
	}
	at, err := x.until(text)
	return at.Sub(began), usedBy(x.pid()) - before, err
}

// keyTimes is how long keys took, and what they cost: on a busy machine most of
// the former is waiting for others.
type keyTimes struct{ took, used []time.Duration }

func (k *keyTimes) add(took, used time.Duration, err error) error {
	k.took, k.used = append(k.took, took), append(k.used, used)
	return err
}

func (k *keyTimes) print(what string) {
	spread(what, k.took)
	spread("  CPU of the process until then", k.used)
}

// watch takes what comes for some time.
func (x *opened) watch(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case p, ok := <-x.pieces:
			if !ok {
				return
			}
			x.take(p)
		case <-end:
			return
		}
	}
}

// leave leaves the workspace and waits for it.
func (x *opened) leave() error {
	_, err := x.ctrl.WriteString("\x11")
	for p := range x.pieces {
		x.take(p)
	}
	return errors.Join(err, x.cmd.Wait(), x.ctrl.Close())
}
