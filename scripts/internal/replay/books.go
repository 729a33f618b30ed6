package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Counters is what GET /counters answers. Requests counts questions that were recognised, whatever became of the
// answer; it includes those of earlier processes on the same log file. Answered, Failed and Dropped split the requests
// of this process.
type Counters struct {
	Requests    int `json:"requests"`
	Unique      int `json:"unique"`
	Duplicates  int `json:"duplicates"` // Requests - Unique
	MaxInflight int `json:"max_inflight"`
	Answered    int `json:"answered"`
	Failed      int `json:"failed"`
	Dropped     int `json:"dropped"`
	Unknown     int `json:"unknown"` // questions that the recording does not hold; not in Requests
	// ByQuestion holds every question that was seen more than once, with how often.
	ByQuestion map[string]int `json:"by_question"`
}

// books counts. Every question is on file before it is answered, so a kill at any moment loses no count.
type books struct {
	mu       sync.Mutex
	log      *os.File // nil keeps no file
	seen     map[string]int
	texts    map[string]string // digest to question
	inflight int
	counters Counters
}

// logLine is one line of the log file. The digest is enough to count and keeps the file small.
type logLine struct {
	Question string `json:"q"`
}

// openBooks reads the log of earlier processes, when there is one, and appends to it.
func openBooks(path string, rec *Recording) (*books, error) {
	b := &books{seen: map[string]int{}, texts: map[string]string{}}
	for _, e := range rec.entries {
		b.texts[digest(e.question)] = e.question
	}
	if path == "" {
		return b, nil
	}
	whole, err := b.restore(path)
	if err != nil {
		return nil, err
	}
	if b.log, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("open question log: %w", err)
	}
	if !whole { // a line that a kill cut short was never answered: close it, so that it spoils no other
		if _, err := b.log.WriteString("\n"); err != nil {
			return nil, errors.Join(fmt.Errorf("repair question log: %w", err), b.log.Close())
		}
	}
	return b, nil
}

// restore counts the lines of the log and reports whether it ends with a whole line.
func (b *books) restore(path string) (whole bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(data) == 0) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read question log: %w", err)
	}
	for line := range bytes.Lines(data) {
		var l logLine
		if json.Unmarshal(line, &l) != nil || l.Question == "" {
			continue // the remains of a cut line
		}
		b.seen[l.Question]++
		b.counters.Requests++
	}
	return data[len(data)-1] == '\n', nil
}

// begin counts a question and returns how often it was seen before. It fails when the log cannot be written, and then
// the question must not be answered.
func (b *books) begin(question string) (before int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := digest(question)
	if b.log != nil {
		line, err := json.Marshal(logLine{d})
		if err != nil {
			return 0, fmt.Errorf("encode log line: %w", err)
		}
		if _, err := b.log.Write(append(line, '\n')); err != nil {
			return 0, fmt.Errorf("write question log: %w", err)
		}
	}
	before = b.seen[d]
	b.seen[d]++
	b.counters.Requests++
	b.inflight++
	b.counters.MaxInflight = max(b.counters.MaxInflight, b.inflight)
	return before, nil
}

// end closes what begin opened.
func (b *books) end(o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inflight--
	switch o {
	case answered:
		b.counters.Answered++
	case failed:
		b.counters.Failed++
	case dropped:
		b.counters.Dropped++
	}
}

func (b *books) unknown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counters.Unknown++
}

func (b *books) snapshot() Counters {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.counters
	c.Unique = len(b.seen)
	c.Duplicates = c.Requests - c.Unique
	c.ByQuestion = map[string]int{}
	for d, n := range b.seen {
		if n < 2 {
			continue
		}
		text, ok := b.texts[d]
		if !ok {
			text = d // from a log of another recording
		}
		c.ByQuestion[text] = n
	}
	return c
}

func (b *books) close() error {
	if b.log == nil {
		return nil
	}
	if err := b.log.Close(); err != nil {
		return fmt.Errorf("close question log: %w", err)
	}
	return nil
}

func digest(question string) string {
	sum := sha256.Sum256([]byte(question))
	return hex.EncodeToString(sum[:16])
}
