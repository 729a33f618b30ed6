package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// digest hashes a benchmark's tasks as they pass: every task in full, one
// JSON object a line, and their ids, one a line.
type digest struct {
	tasks, ids hash.Hash
	n          int
}

func newDigest() *digest { return &digest{tasks: sha256.New(), ids: sha256.New()} }

func (d *digest) add(t bundle.Task) error {
	doc, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	d.tasks.Write(append(doc, '\n'))
	fmt.Fprintln(d.ids, t.ID)
	d.n++
	return nil
}

func (d *digest) fill(p *core.Profile) {
	p.PopulationSHA256, p.TaskIDsSHA256 = hex.EncodeToString(d.tasks.Sum(nil)), hex.EncodeToString(d.ids.Sum(nil))
	p.TaskCount = d.n
}
