package e2e_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var diskFaults = flag.Int("disk.n", 2, "how many faults of the disk a run lives through")

const (
	diskSize = 24 << 20 // of the small disk, in bytes
	// privateVar says that this process has mounts of its own.
	privateVar = "EVALROUTER_TEST_PRIVATE_MOUNTS"
	// questionsPerFault keeps a run going until its last fault.
	questionsPerFault = 100
)

// The disk under a run of paid calls fills up, fails and turns read-only at
// random moments, with the real service on it. Whoever asks meanwhile gets an
// answer or the code storage_full; afterwards the run goes on by itself, and
// nothing that was paid is lost or asked twice.
//
// The disk is a small tmpfs in a private mount namespace. Failing writes are
// made by strace, which answers the service's system calls in the kernel's
// place: no file system is needed that fails on demand.
func TestDisk_FaultsInARun(t *testing.T) {
	t.Parallel()
	if os.Getenv(privateVar) == "" {
		inPrivateMounts(t)
		return
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	d := newDisk(t, seed)
	e := serveRecorded(t, "175b_verification", 20*time.Millisecond)
	id := d.connect(e, "175b_verification", "0.50", "1.50")
	n := min(1000, questionsPerFault**diskFaults)
	r := d.submit(fmt.Sprintf(`{"model": {"kind": "connection", "connection_id": "%s"}, "selection": {"profile_ids": ["gsm8k@1"]},
		"coverage": {"mode": "sample", "sample_count": %d}, "max_charge_microusd": "100000000", "concurrency": 8}`, id, n))
	for i := range *diskFaults {
		d.waitAsked(e, min(n-concurrency, 20+i*n/(*diskFaults+1)+d.random.IntN(20)))
		d.fault(i)
	}
	d.run("evalrouter", "wait", r.ID)
	end := d.status(r.ID)
	total := 0
	for _, k := range end.Outcomes {
		total += k
	}
	unresolved := end.Outcomes["provider_error"]
	t.Logf("%d faults %v; %d of %d writes asked for were refused as storage_full, the engine repeated %d of its own: %s, %v",
		*diskFaults, d.met, d.full, d.asked, d.repeated(), end.Status, end.Outcomes)
	if total != n || end.GradedCount+unresolved != n || end.Status != "completed" && end.Status != "partial" {
		t.Errorf("the run is %s (%s): %d graded and %d unresolved of %d: %v", end.Status, end.TerminalReason, end.GradedCount, unresolved, n, end.Outcomes)
	}
	if unresolved > d.kills*concurrency {
		t.Errorf("%d are unresolved after %d kills with %d in flight; a disk alone may cost none", unresolved, d.kills, concurrency)
	}
	if c := e.counters(t); c.Duplicates != 0 {
		t.Errorf("the endpoint saw %d questions twice", c.Duplicates)
	}
	d.audit()
}

// inPrivateMounts runs this test again in a mount namespace of its own, as
// root or as the root of a user namespace of its own.
func inPrivateMounts(t *testing.T) {
	t.Helper()
	if os.Getenv("EVALROUTER_TEST_BIN") == "" {
		t.Skip("EVALROUTER_TEST_BIN names no folder of built binaries; scripts/test sets it")
	}
	shared(t, "data", "gsm8k")
	var how []string
	for _, flags := range [][]string{{"--mount"}, {"--mount", "--user", "--map-root-user"}} {
		try := exec.Command("unshare", append(flags, "--", "mount", "-t", "tmpfs", "-o", "size=64k", "none", t.TempDir())...)
		if try.Run() == nil {
			how = flags
			break
		}
	}
	if how == nil {
		t.Skip("this account may not mount a small disk: unshare with mount fails")
	}
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("strace, which makes writes fail, is not there or may not trace")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", append(how, "--", self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=24h", "-disk.n="+strconv.Itoa(*diskFaults))...)
	cmd.Env = append(os.Environ(), privateVar+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("in mounts of its own: %v", err)
	}
}

// disk is a site whose data stand on a small disk.
type disk struct {
	*site
	random *rand.Rand
	quote  string // a file that asks for one
	kills  int
	// asked and full count requests made while the disk was full, and those
	// refused for it.
	asked, full int
	met         map[string]int
}

func newDisk(t testing.TB, seed uint64) *disk {
	t.Helper()
	d := &disk{site: newSite(t), random: rand.New(rand.NewPCG(seed, 2)), quote: filepath.Join(t.TempDir(), "quote.json"), met: map[string]int{}}
	request := `{"model": {"kind": "managed", "route_id": "practice.echo"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 5}, "max_charge_microusd": "1000000"}`
	if err := os.WriteFile(d.quote, []byte(request), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(d.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", d.data(), "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", diskSize)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.site.run("evalrouter", "local", "stop")
		if err := syscall.Unmount(d.data(), syscall.MNT_DETACH); err != nil { // the service may still be closing its files
			t.Errorf("unmount the small disk: %v", err)
		}
	})
	d.addGSM8K()
	return d
}

// fault is the i-th one: each kind in turn, the particulars at random.
func (d *disk) fault(i int) {
	d.t.Helper()
	kinds := []struct {
		name string
		do   func()
	}{
		{"full", d.fillUp}, {"I/O error", func() { d.fail("EIO") }}, {"read-only", func() { d.fail("EROFS") }},
		{"full, and killed", d.fillUpAndKill}, {"read-only at the start", d.readOnlyStart}, {"quota", func() { d.fail("EDQUOT") }},
	}
	k := kinds[i%len(kinds)]
	d.met[k.name]++
	pid := d.pid()
	killed := d.kills
	k.do()
	if d.kills == killed && d.pid() != pid {
		d.t.Errorf("the service did not live through %q", k.name)
	}
}

// fillUp leaves no byte free for a while.
func (d *disk) fillUp() {
	d.t.Helper()
	free := d.ballast()
	for range 3 {
		d.pause()
		d.probe()
	}
	free()
}

// fillUpAndKill kills the service while its disk is full, and starts it there:
// it starts or says why not.
func (d *disk) fillUpAndKill() {
	d.t.Helper()
	free := d.ballast()
	d.pause()
	d.kill()
	out := d.run("evalrouter", "local", "start")
	if out.code != 0 && !strings.Contains(out.stdout+out.stderr, "storage_full") && !strings.Contains(out.stdout+out.stderr, "no space left") {
		d.t.Errorf("a start on a full disk: exit %d without the cause\n%s%s", out.code, out.stdout, out.stderr)
	}
	free()
	d.ok("evalrouter", "local", "start")
}

// readOnlyStart kills the service and starts it on a disk that takes nothing.
func (d *disk) readOnlyStart() {
	d.t.Helper()
	d.kill()
	d.remount(syscall.MS_RDONLY)
	out := d.run("evalrouter", "local", "start")
	if out.code == 0 || !strings.Contains(out.stdout+out.stderr, "read-only file system") {
		d.t.Errorf("a start on a read-only disk: exit %d without the cause\n%s%s", out.code, out.stdout, out.stderr)
	}
	d.remount(0)
	d.ok("evalrouter", "local", "start")
}

func (d *disk) remount(flags uintptr) {
	d.t.Helper()
	if err := syscall.Mount("none", d.data(), "", syscall.MS_REMOUNT|flags, fmt.Sprintf("size=%d,mode=700", diskSize)); err != nil {
		d.t.Fatalf("remount: %v", err)
	}
}

func (d *disk) kill() {
	d.t.Helper()
	pid := d.pid()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
	d.kills++
	for syscall.Kill(pid, 0) == nil { // its files must be closed
		d.pause()
	}
}

// ballast takes every free byte, and gives them back.
func (d *disk) ballast() (free func()) {
	d.t.Helper()
	path := filepath.Join(d.data(), "ballast")
	f, err := os.Create(path)
	if err != nil {
		d.t.Fatal(err)
	}
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err = f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2] // until not even one byte fits
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		d.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			d.t.Fatal(err)
		}
	}
}

// fail lets some or all writes of the service fail for a while.
func (d *disk) fail(errno string) {
	d.t.Helper()
	when := []string{"", ":when=1+2", ":when=2+3"}[d.random.IntN(3)]
	const calls = "pwrite64,fsync,fdatasync,ftruncate"
	cmd := exec.Command("strace", "-f", "-q", "-o", os.DevNull, "-p", strconv.Itoa(d.pid()), "-e", "trace="+calls, "-e", "inject="+calls+":error="+errno+when)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	for range 3 {
		d.pause()
		d.probe()
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil { // it lets go of the service
		d.t.Fatal(err)
	}
	_ = cmd.Wait() // ends by the signal
}

// probe asks for something that must be written, and for something that must
// not. The first is done or refused as storage_full, the second is done.
func (d *disk) probe() {
	d.t.Helper()
	out := d.site.run("evalrouter", "quote", "--config", d.quote, "--json")
	d.asked++
	switch text := out.stdout + out.stderr; {
	case out.code == 0:
	case out.code == 1 && strings.Contains(text, `"storage_full"`):
		d.full++
	default:
		d.t.Errorf("a quote on a failing disk: exit %d, want 0, or 1 and storage_full\n%s", out.code, text)
	}
	d.ok("evalrouter", "status", "--json")
}

// repeated counts what the service's log says of writes that it made again.
// While the disk was full the log took nothing either.
func (d *disk) repeated() int {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.data(), "evalrouterd.log"))
	if err != nil {
		d.t.Fatal(err)
	}
	n := 0
	for _, what := range []string{"not recorded yet", "calls were not reserved", "a call was not made", "answer was not spooled"} {
		n += bytes.Count(b, []byte(what))
	}
	return n
}

// pause lets the service work for a moment, at most a tenth of a second.
func (d *disk) pause() {
	<-time.After(time.Duration(5+d.random.IntN(95)) * time.Millisecond)
}
