package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/draft"
)

// validate times bin/evalrouter-bench validate on a package of the size that
// the goal P17 speaks of: 100,000 tasks in 72 MB.
func validate(args []string) (err error) {
	n := 11
	if len(args) > 0 {
		if _, err := fmt.Sscan(args[0], &n); err != nil || n < 1 {
			return errUsage
		}
	}
	dir, err := os.MkdirTemp("", "bench-validate-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
	}()
	bytes, err := writeLarge(dir)
	if err != nil {
		return err
	}
	var took []time.Duration
	var rss int64
	for range n {
		cmd := exec.Command("bin/evalrouter-bench", "validate", dir, "--json")
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("run evalrouter-bench validate: %w (build with scripts/setup first)", err)
		}
		var rep pack.Report
		if err := json.Unmarshal(out, &rep); err != nil || !rep.Valid || rep.Tasks != pack.MaxTasks {
			return fmt.Errorf("read the report: %w; valid %v, %d tasks", err, rep.Valid, rep.Tasks)
		}
		took = append(took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		rss = max(rss, peak(cmd.ProcessState))
	}
	slices.Sort(took)
	fmt.Printf("evalrouter-bench validate, %d tasks, %.1f MB   CPU min %.3f  median %.3f  max %.3f s   peak RSS %.1f MiB   (%d runs)\n",
		pack.MaxTasks, float64(bytes)/1e6, took[0].Seconds(), took[len(took)/2].Seconds(), took[len(took)-1].Seconds(), float64(rss)/(1<<20), n)
	return nil
}

// writeLarge writes the package: a draft whose tasks are replaced by many of
// about 720 bytes, some with escapes and characters beyond ASCII.
func writeLarge(dir string) (int64, error) {
	files, err := draft.Files(draft.Draft{Namespace: "bench", Name: "large", Template: pack.TemplateText})
	if err != nil {
		return 0, err
	}
	var m pack.Manifest
	if err := json.Unmarshal(files[0].Data, &m); err != nil {
		return 0, err
	}
	f, err := os.Create(filepath.Join(dir, pack.TasksFile))
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	chance := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the a train leaves station at nine with forty passengers and arrives when it has passed two bridges over river where people fish for small silver carp each morning before work begins \\\"quoted\\\" line\\nbreak café")
	var text strings.Builder
	for i := range pack.MaxTasks {
		text.Reset()
		for text.Len() < 654 {
			text.WriteString(words[chance.IntN(len(words))] + " ")
		}
		fmt.Fprintf(out, "{\"id\": \"t%d\", \"input\": \"%s\", \"target\": \"%d\", \"group\": \"g%d\"}\n", i%6+1+i/6*10, text.String(), chance.IntN(1e6), i%97)
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return 0, err
	}
	for i := range m.Components {
		if m.Components[i].Role == pack.RoleDataset {
			m.Components[i].SHA256, m.Components[i].Bytes = hex.EncodeToString(sum.Sum(nil)), info.Size()
		}
	}
	files[0].Data = m.Write()
	for _, x := range files {
		if x.Path == pack.TasksFile {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, x.Path), x.Data, 0o600); err != nil {
			return 0, err
		}
	}
	return info.Size(), nil
}
