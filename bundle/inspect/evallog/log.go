// Package evallog reads and writes Inspect's logs: .eval archives and .json
// documents.
//
// A log is kept as the document it is, in values of package value, because its
// schema grows with every release of Inspect: what this package does not know
// is carried along and not lost. View and Results give typed access to the
// parts that scoring needs. Run.Log builds a log from a run, as a pure function
// of its values.
//
// Logs are hostile input: sizes are bounded before anything is held, and a
// reference in a log can never make it grow without bound.
//
// Inspect writes NaN and infinities as bare words, which readers of strict JSON
// refuse. They are read here and never written: a log that holds one cannot be
// written, and Run.Log leaves out the figures that would need one.
package evallog

import (
	"errors"
	"fmt"
	"math"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Limits bound what is read of a log. They count bytes as they are after
// decompression.
type Limits struct {
	Member  int64 // bytes of one file of an archive, or of a document
	Total   int64 // bytes of all files of an archive
	Members int   // files of an archive
}

// DefaultLimits take the logs of any real run and keep a hostile one from
// filling the memory.
func DefaultLimits() Limits {
	return Limits{Member: 256 << 20, Total: 1 << 30, Members: 1 << 20}
}

// ErrTooLarge reports a log beyond the bounds.
var ErrTooLarge = errors.New("log is too large")

// ErrNotFinite reports a number that strict JSON cannot hold.
var ErrNotFinite = errors.New("number is not finite")

// Log is one log. Head holds everything but samples and reductions, in order.
// Reductions is nil when the log has none.
type Log struct {
	Head       *value.Dict
	Samples    []*value.Dict
	Reductions []any
}

// Status is started, success, cancelled or error, "" if the log does not say.
func (l *Log) Status() string { return text(l.Head, "status") }

// Version is the version of the log format, 0 if the log does not say.
func (l *Log) Version() int64 {
	v, _ := l.Head.Get("version")
	n, _ := v.(int64)
	return n
}

// Members of a document that may be missing or of another type than usual.

func text(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

func dict(d *value.Dict, key string) *value.Dict {
	v, _ := d.Get(key)
	if m, ok := v.(*value.Dict); ok {
		return m
	}
	return value.DictOf()
}

func list(d *value.Dict, key string) []any {
	v, _ := d.Get(key)
	l, _ := v.([]any)
	return l
}

func optionalText(d *value.Dict, key string) *string {
	v, _ := d.Get(key)
	if s, ok := v.(string); ok {
		return &s
	}
	return nil
}

// finite returns an error for a NaN or infinity anywhere in v.
func finite(v any) error {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ErrNotFinite
		}
	case []any:
		for i, item := range v {
			if err := finite(item); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case *value.Dict:
		for key, item := range v.All() {
			if err := finite(item); err != nil {
				return fmt.Errorf("%s: %w", value.Str(key), err)
			}
		}
	}
	return nil
}
