package exchange

import (
	"bytes"
	"errors"
	"io"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/sse"
)

// Fold takes the events of a stream one after the other.
type Fold interface {
	// Take reads an event. An error means that it is none of this protocol.
	Take(sse.Event) error
	// Fault is the message of an error that the stream brought; ok says that
	// there was one.
	Fault() (message string, ok bool)
	// Complete says that the stream told why the model stopped.
	Complete() bool
}

// Replay feeds a recorded stream to a fold. The outcome counts when ok is
// false: then the stream holds no answer. Neither [DONE] nor a clean end is a
// sign of one; only a finish reason is.
func Replay(raw []byte, f Fold) (o provider.Outcome, ok bool) {
	events := sse.NewReader(bytes.NewReader(raw))
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.Take(e)
			if err != nil && e.Partial { // its rest is missing
				break
			}
		}
		if err != nil {
			return Unreadable(raw, NoUsage(), Malformed, "the stream is not of the expected shape"), false
		}
		if said, failed := f.Fault(); failed {
			return Unreadable(raw, NoUsage(), StreamError, said), false
		}
	}
	if !f.Complete() {
		return Unreadable(raw, NoUsage(), StreamCut, "the stream ended before the answer was complete"), false
	}
	return provider.Outcome{}, true
}
