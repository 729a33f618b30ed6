package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// quoteMemory is how long the id of a quote can be shortened.
const quoteMemory = 7 * 24 * time.Hour

// A service lists no quotes, so that the beginning of an id can only be
// understood where the quote was asked for. Every quote is one empty file named
// after it: two processes need no lock, and nothing but the id is kept.
func (j *Journal) quotes() string { return filepath.Join(j.Dir, "quotes") }

// RememberQuote keeps the id of a quote that was asked for here. It is a
// convenience: a failure loses nothing but the short form of the id.
func (j *Journal) RememberQuote(id string) error {
	if !WholeID(id) {
		return nil
	}
	if err := j.Disk.MakeDir(j.quotes()); err != nil {
		return err
	}
	j.forgetOldQuotes()
	err := j.Disk.Create(filepath.Join(j.quotes(), id), nil)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (j *Journal) forgetOldQuotes() {
	entries, err := os.ReadDir(j.quotes())
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && WholeID(e.Name()) && j.Now().Sub(info.ModTime()) > quoteMemory {
			_ = j.Disk.Remove(filepath.Join(j.quotes(), e.Name())) // the next quote tries again
		}
	}
}

// QuoteID is the quote that a full id or the beginning of one means. A full id
// is taken as it stands.
func (j *Journal) QuoteID(typed string) (string, error) {
	if WholeID(typed) {
		return typed, nil
	}
	for _, r := range typed {
		if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return "", refuse(api.InvalidInput, fmt.Sprintf("%s is not a quote id", Typed(typed)), "a quote id is a UUID, or at least its first 4 characters")
		}
	}
	if len(typed) < MinPrefix {
		return "", refuse(api.InvalidInput, fmt.Sprintf("%s is too short for a quote id", Typed(typed)), "at least 4 characters are needed")
	}
	entries, err := os.ReadDir(j.quotes())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", refuse(api.InvalidInput, "quotes are not remembered here; give the whole id", "the state directory cannot be read: "+j.Dir)
	}
	var hits []string
	for _, e := range entries {
		if WholeID(e.Name()) && strings.HasPrefix(e.Name(), typed) {
			hits = append(hits, e.Name())
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return "", refuse(api.InvalidInput, fmt.Sprintf("no quote that was asked for here in the last 7 days starts with %s", Typed(typed)), "the whole id of a quote always works")
	}
	e := refuse(api.AmbiguousID, fmt.Sprintf("%s fits %d quotes", Typed(typed), len(hits)))
	e.Closest = hits
	return "", e
}

// WholeID says that a text is the whole id of a run, a quote or a group: a UUID in
// small letters.
func WholeID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		switch i {
		case 8, 13, 18, 23:
			if r != '-' {
				return false
			}
		default:
			if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
				return false
			}
		}
	}
	return true
}
