package comparison

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Tasks is what the tasks of a full export say.
type Tasks struct {
	// Graded are the ids of the graded tasks, sorted.
	Graded  []string
	Graders []api.GraderRecord
	// Answers counts the graded tasks that carry their answer.
	Answers int
	// marks is what a later run of a chain must have taken over, by graded task.
	marks map[string]mark
}

// mark is the hashes of a task's scores and of its answer, the latter empty where
// the export holds none.
type mark struct {
	scores [sha256.Size]byte
	answer string
}

func (m mark) same(o mark) bool {
	return m.scores == o.scores && (m.answer == o.answer || m.answer == "" || o.answer == "")
}

// ReadSummary reads a summary export.
func ReadSummary(r io.Reader) (s api.ExportSummary, err error) {
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return s, fmt.Errorf("read summary export: %w", err)
	}
	return s, nil
}

// ReadFull reads a full JSON export task by task: none is kept but its id.
func ReadFull(r io.Reader) (s api.ExportSummary, t *Tasks, err error) {
	head := map[string]json.RawMessage{}
	dec := json.NewDecoder(r)
	if err := open(dec, '{'); err != nil {
		return s, nil, fmt.Errorf("read export: %w", err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return s, nil, fmt.Errorf("read export: %w", err)
		}
		if key == "samples" {
			if t, err = readTasks(dec); err != nil {
				return s, nil, err
			}
			continue
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return s, nil, fmt.Errorf("read %s of an export: %w", key, err)
		}
		if key != "result" {
			head[key.(string)] = v
		}
	}
	// A file that was cut off ends without its last brace.
	if _, err := dec.Token(); err != nil {
		return s, nil, fmt.Errorf("read the end of an export: %w", err)
	}
	b, err := json.Marshal(head)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && t == nil {
		err = errors.New("it has no tasks")
	}
	if err != nil {
		return s, nil, fmt.Errorf("read export: %w", err)
	}
	return s, t, nil
}

func open(dec *json.Decoder, want json.Delim) error {
	tok, err := dec.Token()
	if err == nil && tok != want {
		err = fmt.Errorf("it does not begin with %s", want)
	}
	return err
}

// graded is the status of a task with a score.
const graded = "graded"

func readTasks(dec *json.Decoder) (*Tasks, error) {
	if err := open(dec, '['); err != nil {
		return nil, fmt.Errorf("read the tasks of an export: %w", err)
	}
	t := &Tasks{marks: map[string]mark{}}
	for dec.More() {
		var s struct {
			TaskID string             `json:"task_id"`
			Status string             `json:"status"`
			Answer present            `json:"answer"`
			SHA256 string             `json:"answer_sha256"`
			Scores map[string]float64 `json:"scores"`
			Grader api.GraderRecord   `json:"grader"`
		}
		if err := dec.Decode(&s); err != nil {
			return nil, fmt.Errorf("read task %d of an export: %w", len(t.Graded)+1, err)
		}
		if s.Status != graded {
			continue
		}
		scores, err := json.Marshal(s.Scores)
		if err != nil {
			return nil, fmt.Errorf("read the scores of task %d of an export: %w", len(t.Graded)+1, err)
		}
		t.marks[s.TaskID] = mark{sha256.Sum256(scores), s.SHA256}
		t.Graded = append(t.Graded, s.TaskID)
		if s.Answer {
			t.Answers++
		}
		if !slices.Contains(t.Graders, s.Grader) {
			t.Graders = append(t.Graders, s.Grader)
		}
	}
	slices.Sort(t.Graded)
	slices.SortFunc(t.Graders, func(a, b api.GraderRecord) int {
		return strings.Compare(a.ID+"\n"+a.Version+"\n"+a.SHA256, b.ID+"\n"+b.Version+"\n"+b.SHA256)
	})
	return t, open(dec, ']')
}

// present says whether a member is there, without keeping it.
type present bool

// UnmarshalJSON looks at the first byte.
func (p *present) UnmarshalJSON(b []byte) error {
	*p = len(b) > 0 && b[0] != 'n'
	return nil
}

// hash is the SHA-256 of the sorted ids, one a line.
func (t *Tasks) hash() string {
	h := sha256.New()
	for _, id := range t.Graded {
		fmt.Fprintln(h, id)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// evidence compares what graded and which tasks were. A graded task without its
// answer refuses its run, unless the archive is to be made without them.
func evidence(members []Member, withoutRaw bool) (api.ComparedEvidence, []api.ComparisonWarning, error) {
	e := api.ComparedEvidence{Checked: true, GraderVersions: "same", TaskSets: "same", Series: []api.SeriesTaskSet{}}
	var labels, bare []string
	for i, m := range members {
		t := m.Tasks
		if t == nil {
			return e, nil, fmt.Errorf("compare the tasks of run %s: its full export was not read", m.Summary.RunID)
		}
		if m.Chain != nil {
			if err := decided(m); err != nil {
				return e, nil, err
			}
		}
		if n := len(t.Graded); t.Answers < n {
			if !withoutRaw {
				return e, nil, mismatch("%d of %d graded tasks of run %s have no answer in its export (answers are %s); --without-raw archives it all the same",
					n-t.Answers, n, m.Summary.RunID, orNone(m.Summary.ExportPolicy.Answers))
			}
			bare = append(bare, label(i))
		}
		if n := m.Summary.Profiles[0].Counts.Graded; n != len(t.Graded) {
			return e, nil, mismatch("the export of run %s has %d graded tasks and its summary says %d", m.Summary.RunID, len(t.Graded), n)
		}
		s := api.SeriesTaskSet{Label: label(i), Graded: len(t.Graded), SHA256: t.hash(), Graders: append([]api.GraderRecord{}, t.Graders...), Answers: t.Answers}
		labels = append(labels, s.Label)
		e.Series = append(e.Series, s)
		if !slices.Equal(e.Series[0].Graders, s.Graders) {
			e.GraderVersions = "different"
		}
		if e.Series[0].SHA256 != s.SHA256 {
			e.TaskSets = "different"
		}
	}
	var more []api.ComparisonWarning
	warn := func(on bool, code string, which []string, detail string) {
		if on {
			more = append(more, api.ComparisonWarning{Code: code, Series: which, Detail: detail})
		}
	}
	warn(e.GraderVersions != "same", GradersDiffer, labels, "the runs were graded by different graders or versions")
	warn(e.TaskSets != "same", TaskSetsDiffer, labels, "different tasks were graded")
	warn(len(bare) > 0, AggregateOnly, bare, "answers are not in the export; only figures can be looked at")
	return e, more, nil
}
