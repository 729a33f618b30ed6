// Package replay is an OpenAI-compatible endpoint that answers from a recording: whoever asks a recorded question gets
// the recorded answer, byte for byte.
//
// It exists to prove accounting, so it keeps the books that a tested client is held against: every question is
// counted, and logged to a file, before it is answered. What a client saw and what the endpoint saw can differ only
// by answers that were lost on the way, which it can also lose on purpose.
package replay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxKey bounds the prefix by which questions are looked up.
const maxKey = 32

// Recording holds questions with their answers. It is safe for concurrent use once read.
type Recording struct {
	entries []entry
	// byPrefix maps the first keyLen bytes of a question to its candidates, longest question first.
	byPrefix map[string][]int
	keyLen   int
}

type entry struct{ question, answer string }

// ReadRecording reads one JSON object a line and takes question and answer from the given dot paths ("a.b" is field b
// of field a). Outer white space of a question does not count, since prompt templates differ in it. The same question
// twice is an error unless the answers are equal: which one to give could not be told.
func ReadRecording(r io.Reader, questionPath, answerPath string) (*Recording, error) {
	answers := map[string]string{}
	rec := &Recording{byPrefix: map[string][]int{}, keyLen: maxKey}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var row map[string]any
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
		question, err := field(row, questionPath)
		if err != nil {
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
		answer, err := field(row, answerPath)
		if err != nil {
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
		if question = strings.TrimSpace(question); question == "" {
			return nil, fmt.Errorf("read recording: line %d: the question is empty", n)
		}
		if old, ok := answers[question]; ok {
			if old != answer {
				return nil, fmt.Errorf("read recording: line %d: the question stands above with another answer", n)
			}
			continue
		}
		answers[question] = answer
		rec.entries = append(rec.entries, entry{question, answer})
		rec.keyLen = min(rec.keyLen, len(question))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if len(rec.entries) == 0 {
		return nil, errors.New("read recording: it holds no question")
	}
	rec.index()
	return rec, nil
}

func (rec *Recording) index() {
	for i, e := range rec.entries {
		key := e.question[:rec.keyLen]
		rec.byPrefix[key] = append(rec.byPrefix[key], i)
	}
	for _, candidates := range rec.byPrefix {
		slices.SortStableFunc(candidates, func(a, b int) int {
			return len(rec.entries[b].question) - len(rec.entries[a].question)
		})
	}
}

// Len is the number of different questions.
func (rec *Recording) Len() int { return len(rec.entries) }

// find returns the longest recorded question that text contains, the last one of equal length: examples stand before
// the question proper.
func (rec *Recording) find(text string) (int, bool) {
	best, found := 0, false
	for i := 0; i+rec.keyLen <= len(text); i++ {
		for _, candidate := range rec.byPrefix[text[i:i+rec.keyLen]] {
			q := rec.entries[candidate].question
			if found && len(q) < len(rec.entries[best].question) {
				break
			}
			if strings.HasPrefix(text[i:], q) {
				best, found = candidate, true
				break
			}
		}
	}
	return best, found
}

// field takes the string at a dot path.
func field(row map[string]any, path string) (string, error) {
	var value any = row
	for _, name := range strings.Split(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return "", fmt.Errorf("no field %q", path)
		}
		if value, ok = object[name]; !ok {
			return "", fmt.Errorf("no field %q", path)
		}
	}
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("field %q is no text", path)
	}
	return text, nil
}
