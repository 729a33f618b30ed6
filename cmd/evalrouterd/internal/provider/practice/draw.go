package practice

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// draw is everything random about one task on one route, drawn from a hash.
type draw struct {
	luck uint64 // right or wrong
	seed uint64 // the words of the answer
	rest [16]byte
}

// decide hashes a route and a task. Every part is preceded by its length, so
// that no two tasks run together.
func decide(id core.RouteID, t *bundle.Task) draw {
	h := make([]byte, 0, 512)
	add := func(s string) {
		h = binary.BigEndian.AppendUint32(h, uint32(len(s)))
		h = append(h, s...)
	}
	add(string(id))
	add(t.ID)
	for _, m := range t.Input {
		add(string(m.Role))
		add(m.Text)
	}
	sum := sha256.Sum256(h)
	d := draw{luck: binary.BigEndian.Uint64(sum[:8]), seed: binary.BigEndian.Uint64(sum[8:16])}
	copy(d.rest[:], sum[16:])
	return d
}

// right is true with probability p/1000 over tasks.
func (d draw) right(p uint64) bool { return thousandth(d.luck) < p }

// latency is 10 to 20 milliseconds.
func (d draw) latency() time.Duration {
	return 10*time.Millisecond + time.Duration(binary.BigEndian.Uint16(d.rest[:2])%10_001)*time.Microsecond
}

func (d draw) id() string { return "practice-" + hex.EncodeToString(d.rest[4:12]) }

// thousandth maps a hash to 0..999, evenly.
func thousandth(h uint64) uint64 {
	hi, _ := bits.Mul64(h, 1000)
	return hi
}

// Shares of the faults of practice.flaky, in thousandths of all attempts.
// Answers lost without a trace stay rare: a route that loses more than one
// in twenty is stopped by the breaker, and a run on it would teach nothing.
const (
	rateLimited   = 120
	timedOut      = 10
	unreadable    = 5  // no usage either: nobody knows what was done
	unreadableFee = 25 // usage came, so it is paid for
)

// fault is what goes wrong with an attempt of practice.flaky, if anything.
func fault(r provider.Request, d draw) (provider.Outcome, bool) {
	var b [24]byte
	copy(b[:16], d.rest[:])
	binary.BigEndian.PutUint64(b[16:], uint64(r.Attempt))
	sum := sha256.Sum256(b[:])
	n := thousandth(binary.BigEndian.Uint64(sum[:8]))
	switch {
	case n < rateLimited:
		return provider.Outcome{
			Class: provider.Rejected, Reach: provider.Overload, Status: 429,
			Code: core.CodeRateLimited, Message: "too many requests (simulated)",
			RetryAfter: time.Duration(20+sum[8]%80) * time.Millisecond, HasRetryAfter: true,
		}, true
	case n < rateLimited+timedOut:
		return timeout("no answer in time (simulated)"), true
	case n < rateLimited+timedOut+unreadable:
		o := parse([]byte(`{"route":"practice.flaky","simulated":true,"te`))
		o.Status = 200
		return o, true
	case n < rateLimited+timedOut+unreadable+unreadableFee:
		usage := core.Usage{Input: inputTokens(r), Output: min(8, int64(r.MaxOutput))}
		return received(record{Route: Flaky, Simulated: true, ID: d.id(), Finish: "other:error", Usage: &usage}), true
	}
	return provider.Outcome{}, false
}
