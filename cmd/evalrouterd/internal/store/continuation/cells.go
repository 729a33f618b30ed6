package continuation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// pageSize is how many tasks are read at once.
const pageSize = 500

// cells reads the tasks of a run in order, those without a row too.
type cells struct {
	read   rows
	source source
	// quote is the continuation's: what grades now, and how tasks are asked.
	quote core.Quote
	now   core.Micros
	// bytes says that answers are read and hashed, not only their records.
	bytes bool
}

func (c cells) pages() iter.Seq2[[]core.Cell, error] {
	return func(yield func([]core.Cell, error) bool) {
		for from := 0; from < c.source.planned; from += pageSize {
			page, err := c.page(from, min(from+pageSize, c.source.planned))
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

func (c cells) page(from, to int) ([]core.Cell, error) {
	out := make([]core.Cell, to-from)
	for i := range out {
		out[i] = core.Cell{Idx: from + i, Stop: c.source.stop, Gap: c.source.gap, Parted: slices.Contains(c.quote.Profile.Needs, core.OffersLogprobs)}
	}
	takes, err := c.samples(out, from, to)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	own, err := c.calls(c.callsText(`FROM calls c`, `c.run = $1 AND c.idx >= $2 AND c.idx < $3`), from, to)
	if err != nil {
		return nil, fmt.Errorf("read calls: %w", err)
	}
	earlier := map[int][]call{}
	if len(takes) > 0 {
		earlier, err = c.calls(c.callsText(`FROM samples s JOIN calls c ON c.run = s.source_run AND c.idx = s.idx`, `s.run = $1 AND s.idx >= $2 AND s.idx < $3`), from, to)
		if err != nil {
			return nil, fmt.Errorf("read calls of earlier runs: %w", err)
		}
	}
	doubtful := false
	for i := range out {
		cell := &out[i]
		mine := fold(own[cell.Idx])
		mine.run = c.source.num
		if src, ok := takes[cell.Idx]; ok && passes(*cell, mine) {
			mine = fold(earlier[cell.Idx])
			mine.run = src
		}
		cell.Call, cell.CallID, cell.Evidence, cell.Hash, cell.Expires, cell.From = mine.state, mine.id, mine.evidence, mine.hash, mine.expires, mine.run
		doubtful = doubtful || mine.state == core.CallUnknown || mine.state == core.CallResponded && cell.Parted
	}
	if doubtful {
		return out, c.tries(out, from, to)
	}
	return out, nil
}

// passes says that a run's own calls say nothing about a task that an earlier
// run has a call of: no provider worked on them.
func passes(c core.Cell, own folded) bool {
	untouched := own.state == "" || own.state == core.CallVoided || own.state == core.CallRejected
	return untouched && c.Sample != core.SampleFailed && c.Sample != core.SampleRefused
}

// samples fills in the rows, and gives those that took an answer over.
func (c cells) samples(out []core.Cell, from, to int) (map[int]int64, error) {
	found, err := c.read(`SELECT idx, task_id, state, code, grader_compat, coalesce(source_run, 0) FROM samples WHERE run = $1 AND idx >= $2 AND idx < $3`, c.source.num, from, to)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	takes := map[int]int64{}
	for found.Next() {
		var idx int
		var x core.Cell
		var compat string
		var src int64
		if err := found.Scan(&idx, &x.TaskID, &x.Sample, &x.Code, &compat, &src); err != nil {
			return nil, err
		}
		cell := &out[idx-from]
		cell.TaskID, cell.Sample, cell.Code, cell.Foreign = x.TaskID, x.Sample, x.Code, compat != c.quote.Profile.Grader.Compat
		if src != 0 {
			takes[idx] = src
		}
	}
	return takes, found.Err()
}

// call is one request to the model about a task, with what is left of its
// answer.
type call struct {
	part     int
	id       core.CallID
	state    core.CallState
	evidence core.EvidenceState
	hash     string
	expires  core.Micros
}

func (c cells) callsText(from, where string) string {
	data := `CAST(NULL AS TEXT)`
	if c.bytes {
		data = `b.data`
	}
	return `SELECT c.idx, c.part, c.id, c.state, coalesce(b.hash, ''), coalesce(b.codec, ''), coalesce(b.expires_at, 0), ` + data + ` ` + from +
		` LEFT JOIN blobs b ON b.call_id = c.id AND c.state IN ('responded', 'late') WHERE ` + where + ` AND c.kind = 'target' ORDER BY c.idx, c.part, c.attempt`
}

func (c cells) calls(text string, from, to int) (map[int][]call, error) {
	found, err := c.read(text, c.source.num, from, to)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	out := map[int][]call{}
	for found.Next() {
		var idx int
		var x call
		var codec string
		var data []byte
		if err := found.Scan(&idx, &x.part, &x.id, &x.state, &x.hash, &codec, &x.expires, &data); err != nil {
			return nil, err
		}
		switch {
		case codec == "":
		case codec == "expired" || x.expires <= c.now:
			x.evidence = core.EvidenceExpired
		case c.bytes && digest(data) != x.hash:
			x.evidence = core.EvidenceChanged
		default:
			x.evidence = core.EvidenceKept
		}
		out[idx] = append(out[idx], x)
	}
	return out, found.Err()
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// folded is what the calls of one task come to.
type folded struct {
	call
	run int64
}

// fold takes the newest call of each part, calls being in the order of parts
// and attempts. One part that may have been processed and has no answer makes
// the task unknown. One that was answered and paid for makes it answered, at
// least in part, whatever became of those behind it.
func fold(calls []call) (out folded) {
	var newest []call
	for _, c := range calls {
		if n := len(newest); n > 0 && newest[n-1].part == c.part {
			newest[n-1] = c
			continue
		}
		newest = append(newest, c)
	}
	if len(newest) == 0 {
		return out
	}
	out.call = newest[0]
	for _, c := range newest[1:] {
		out.hash += "+" + c.hash
		if weight(c.evidence) > weight(out.evidence) {
			out.evidence = c.evidence
		}
		out.expires = min(out.expires, c.expires)
	}
	for _, state := range []core.CallState{core.CallSent, core.CallIntent, core.CallUnknown, core.CallLate, core.CallResponded, core.CallRejected} {
		if i := slices.IndexFunc(newest, func(c call) bool { return c.state == state }); i >= 0 {
			out.state, out.id = state, newest[i].id
			return out
		}
	}
	return out
}

func weight(e core.EvidenceState) int {
	return slices.Index([]core.EvidenceState{core.EvidenceKept, core.EvidenceExpired, core.EvidenceNone, core.EvidenceChanged}, e)
}

// tries counts the attempts of unknown outcome in the whole chain.
func (c cells) tries(out []core.Cell, from, to int) error {
	found, err := c.read(`SELECT c.idx, count(*) FROM calls c JOIN runs r ON r.num = c.run WHERE r.chain_root = $1 AND r.chain_pos <= $2 AND c.idx >= $3 AND c.idx < $4
		AND c.kind = 'target' AND c.state = 'unknown' GROUP BY c.idx`, c.source.root, c.source.pos, from, to)
	if err != nil {
		return fmt.Errorf("count attempts: %w", err)
	}
	defer found.Close()
	for found.Next() {
		var idx, n int
		if err := found.Scan(&idx, &n); err != nil {
			return err
		}
		out[idx-from].Tries = n
	}
	return found.Err()
}
