package evallog

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// dump indents as Inspect does. It escapes what is not ASCII, so that lone
// surrogates of an answer survive.
var dump = value.Dump{Indent: 2}

// WriteJSON writes a log as one document. It refuses numbers that strict JSON
// cannot hold.
func (l *Log) WriteJSON(w io.Writer) error {
	doc := l.Head.Copy()
	if err := doc.Set("samples", l.samples()); err != nil {
		return err
	}
	if l.Reductions != nil {
		if err := doc.Set("reductions", l.Reductions); err != nil {
			return err
		}
	}
	if err := writeValue(w, doc); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

func (l *Log) samples() []any {
	out := make([]any, len(l.Samples))
	for i, s := range l.Samples {
		out[i] = s
	}
	return out
}

func writeValue(w io.Writer, v any) error {
	if err := finite(v); err != nil {
		return err
	}
	s, err := dump.Dumps(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, s)
	return err
}

// WriteArchive writes a log as an .eval archive with deflate, which every
// release of Inspect reads. The bytes depend on the log alone.
func (l *Log) WriteArchive(w io.Writer) error {
	z := zip.NewWriter(w)
	err := l.members(func(name string, v any) error {
		f, err := z.Create(name)
		if err != nil {
			return err
		}
		return writeValue(f, v)
	})
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("write log archive: %w", err)
	}
	return nil
}

// members hands the files of an archive to put, in Inspect's order.
func (l *Log) members(put func(name string, v any) error) error {
	if err := put("_journal/start.json", startOf(l.Head)); err != nil {
		return err
	}
	seen := map[string]bool{}
	var summaries []any
	for _, s := range l.Samples {
		name, err := sampleName(s)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("two samples are called %s", name)
		}
		seen[name] = true
		if err := put(name, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		summaries = append(summaries, summary(s))
	}
	for _, name := range []string{"_journal/summaries/1.json", "summaries.json"} {
		if err := put(name, summaries); err != nil {
			return err
		}
	}
	if l.Reductions != nil {
		if err := put("reductions.json", l.Reductions); err != nil {
			return err
		}
	}
	return put("header.json", l.Head)
}

// startOf is what was known when the run began.
func startOf(head *value.Dict) *value.Dict {
	start := value.DictOf()
	for _, key := range []string{"version", "eval", "plan"} {
		if v, ok := head.Get(key); ok {
			put(start, key, v)
		}
	}
	return start
}

// sampleName is the file of a sample, named by its id as Inspect does, which
// escapes nothing. An id that would lead out of the folder is refused.
func sampleName(s *value.Dict) (string, error) {
	id, _ := s.Get("id")
	epoch, _ := s.Get("epoch")
	name := fmt.Sprintf("samples/%s_epoch_%s.json", value.Str(id), value.Str(epoch))
	bad := value.Str(id) == "" || strings.ContainsAny(name, "\\\x00\r\n")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part == "." || part == ".."
	}
	if bad {
		return "", fmt.Errorf("sample id %s cannot name a file", value.Repr(id))
	}
	return name, nil
}

// summary is what the viewer lists of a sample.
func summary(s *value.Dict) *value.Dict {
	out := value.DictOf()
	for _, key := range []string{"id", "epoch", "input", "choices", "target", "metadata", "scores", "model_usage"} {
		if v, ok := s.Get(key); ok {
			if err := out.Set(key, v); err != nil {
				panic("evallog: a text cannot be a key: " + err.Error())
			}
		}
	}
	return out
}
