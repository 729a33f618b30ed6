// Package optional writes what may be missing: null on the wire is what is not
// there, never an empty text or the beginning of time.
package optional

import (
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// At is a time on the wire, in UTC.
func At(t core.Micros) time.Time { return time.UnixMicro(int64(t)).UTC() }

// Time is null for a time that has not come.
func Time(t core.Micros) *time.Time {
	if t == 0 {
		return nil
	}
	return new(At(t))
}

// Text is null for an empty text.
func Text[S ~string](s S) *string {
	if s == "" {
		return nil
	}
	return new(string(s))
}
