package provider

import (
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/evalrouter/evalrouter/bundle"
)

// InputBound is the most input tokens that messages can be billed for, where
// a template adds at most perMessage tokens around each of them and base
// around the whole. A tokenizer makes at most one token of a byte, but may
// normalise the text first and then sees more bytes than were sent.
func InputBound(messages []bundle.Message, perMessage, base int64) int64 {
	n := base + perMessage*int64(len(messages))
	for _, m := range messages {
		n += widest(m.Text)
	}
	return n
}

// widest is the largest number of bytes that s has as sent and in the two
// composed normal forms.
func widest(s string) int64 {
	if ascii(s) {
		return int64(len(s))
	}
	if !utf8.ValidString(s) { // as JSON carries it: U+FFFD for each bad byte
		s = string([]rune(s))
	}
	return int64(max(len(s), len(norm.NFC.String(s)), len(norm.NFKC.String(s))))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// streamAbove is the output limit beyond which an answer is taken as a stream:
// in one piece it could take more than ten minutes, which idle timers of
// proxies do not survive.
const streamAbove = 21_333

// Streams says whether the answer to r is asked for as a stream. One piece is
// the rule: it is whole or it is not.
func (r Request) Streams() bool { return r.Target.Stream || r.MaxOutput > streamAbove }

// tokensAnHour is the slowest speed at which an answer is waited for to its
// end, and longestCall the longest that any is waited for.
const (
	tokensAnHour = 128_000
	longestCall  = time.Hour
)

// CallTime is the deadline of a call with this output limit: the usual one,
// and for an answer that can be too long for it the time that such an answer
// takes. A call that is cut off is billed all the same.
func CallTime(limit int, usual time.Duration) time.Duration {
	if limit <= streamAbove {
		return usual
	}
	return max(usual, min(time.Duration(limit)*time.Hour/tokensAnHour, longestCall))
}
