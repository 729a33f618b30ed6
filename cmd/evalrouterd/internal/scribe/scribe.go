// Package scribe writes as JSON what is written once a call, in the bytes of
// encoding/json and without what its reflection costs. What it wrote is read by
// encoding/json, but for the usual form of a usage, which files of very many calls
// read.
package scribe

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// few is how many names of an object are put in order without an allocation.
const few = 16

// Object appends a map as an object, its names in order. Texts, ints and truth
// values are written here, anything else by encoding/json.
func Object(b []byte, m map[string]any) ([]byte, error) {
	var room [few]string
	names := room[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = value(append(text(b, name), ':'), m[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func value(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return text(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case float64: // nearly every score is one of two
		if v == 1 || v == 0 && !math.Signbit(v) {
			return strconv.AppendInt(b, int64(v), 10), nil
		}
	}
	other, err := json.Marshal(v)
	return append(b, other...), err
}

// text appends a string. One with anything in it that must be escaped is left to
// encoding/json, which never fails at a string.
func text(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			other, _ := json.Marshal(s)
			return append(b, other...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// Usage appends usage as json.Marshal writes it.
func Usage(b []byte, u core.Usage) []byte {
	b = number(append(b, '{'), `"input":`, u.Input)
	for _, f := range []struct {
		name string
		n    int64
	}{{`,"cache_read":`, u.CacheRead}, {`,"cache_write":`, u.CacheWrite}, {`,"cache_write_1h":`, u.CacheWriteHour}} {
		if f.n != 0 {
			b = number(b, f.name, f.n)
		}
	}
	b = number(b, `,"output":`, u.Output)
	if u.Reasoning != 0 {
		b = number(b, `,"reasoning":`, u.Reasoning)
	}
	if u.Billed != nil {
		b = money(b, `,"billed_microusd":`, *u.Billed)
	}
	return append(b, '}')
}

// ReadUsage reads a usage. One of two numbers is read here, any other by
// encoding/json.
func ReadUsage(doc string) (u core.Usage, err error) {
	if rest, ok := strings.CutPrefix(doc, `{"input":`); ok {
		if u.Input, rest, ok = digits(rest); ok {
			if rest, ok = strings.CutPrefix(rest, `,"output":`); ok {
				if u.Output, rest, ok = digits(rest); ok && rest == "}" {
					return u, nil
				}
			}
		}
	}
	u = core.Usage{}
	return u, json.Unmarshal([]byte(doc), &u)
}

// digits reads a number of at most 15 digits as JSON writes it.
func digits(s string) (n int64, rest string, ok bool) {
	i := 0
	for ; i < len(s) && i < 15 && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + int64(s[i]-'0')
	}
	return n, s[i:], i > 0 && (s[0] != '0' || i == 1)
}

// Response appends an answer as json.Marshal writes it.
func Response(b []byte, r core.Response) []byte {
	b = named(append(b, '{'), `"Run":`, string(r.Run))
	b = named(b, `,"Workspace":`, string(r.Workspace))
	b = named(b, `,"Book":`, string(r.Book))
	b = truth(b, `,"Metered":`, r.Metered)
	b = number(b, `,"Idx":`, int64(r.Idx))
	b = named(b, `,"Call":`, string(r.Call))
	if r.Judge {
		b = truth(b, `,"Judge":`, true)
	}
	if r.Part != 0 {
		b = number(b, `,"Part":`, int64(r.Part))
	}
	if r.Open {
		b = truth(b, `,"Open":`, true)
	}
	b = blob(append(b, `,"Raw":`...), r.Raw)
	b = named(b, `,"RawSHA256":`, r.RawSHA256)
	b = named(b, `,"Finish":`, r.Finish)
	b = append(b, `,"Usage":`...)
	if r.Usage == nil {
		b = append(b, "null"...)
	} else {
		b = Usage(b, *r.Usage)
	}
	b = named(b, `,"RequestID":`, r.RequestID)
	b = truth(b, `,"Refused":`, r.Refused)
	b = named(b, `,"Failed":`, r.Failed)
	b = money(b, `,"Money":{"Spend":`, r.Money.Spend)
	b = money(b, `,"Absorbed":`, r.Money.Absorbed)
	b = truth(b, `,"OverBound":`, r.Money.OverBound)
	b = truth(b, `,"Unreported":`, r.Money.Unreported)
	b = money(b, `},"Reserved":`, r.Reserved)
	b = named(b, `,"Transfer":`, r.Transfer)
	b = named(b, `,"AbsorbTransfer":`, r.AbsorbTransfer)
	return append(number(b, `,"ExpiresAt":`, int64(r.ExpiresAt)), '}')
}

func named(b []byte, name, s string) []byte { return text(append(b, name...), s) }

func number(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

func truth(b []byte, name string, v bool) []byte { return strconv.AppendBool(append(b, name...), v) }

func blob(b, raw []byte) []byte {
	if raw == nil {
		return append(b, "null"...)
	}
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), raw), '"')
}

// money appends an amount, which is a text in JSON.
func money(b []byte, name string, m usd.Micro) []byte {
	return append(strconv.AppendInt(append(append(b, name...), '"'), int64(m), 10), '"')
}
