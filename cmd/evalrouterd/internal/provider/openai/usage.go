package openai

import (
	"encoding/json"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

type usageBody struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Total      count `json:"total_tokens"`
	// Hit and Miss are DeepSeek's split of the prompt.
	Hit    count `json:"prompt_cache_hit_tokens"`
	Miss   count `json:"prompt_cache_miss_tokens"`
	Input  parts `json:"prompt_tokens_details"`
	Output parts `json:"completion_tokens_details"`
}

type parts struct {
	Cached    count `json:"cached_tokens"`
	Written   count `json:"cache_write_tokens"`
	Reasoning count `json:"reasoning_tokens"`
	Audio     count `json:"audio_tokens"`
	Image     count `json:"image_tokens"`
}

// count is a number of tokens. It is bad when it is no whole number from 0 to
// core.MaxBelievable.
type count struct {
	n        int64
	set, bad bool
}

// UnmarshalJSON never fails; it remembers.
func (c *count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	*c = count{n: n, set: true, bad: err != nil || n < 0 || n > core.MaxBelievable}
	return nil
}

// readUsage splits reported usage into disjoint classes. It is nil when none
// was reported or when the numbers contradict each other: a remainder below
// zero is never rounded up to zero, for that loses tokens silently.
func readUsage(raw json.RawMessage) *core.Usage {
	var u usageBody
	if !present(raw) || json.Unmarshal(raw, &u) != nil || !u.plausible() {
		return nil
	}
	read := u.Input.Cached.n
	if u.Hit.set && !u.Input.Cached.set {
		if u.Miss.set && u.Hit.n+u.Miss.n != u.Prompt.n {
			return nil
		}
		read = u.Hit.n
	}
	fresh := u.Prompt.n - read - u.Input.Written.n
	out, ok := u.visible()
	if fresh < 0 || !ok {
		return nil
	}
	return &core.Usage{Input: fresh, CacheRead: read, CacheWrite: u.Input.Written.n, Output: out, Reasoning: u.Output.Reasoning.n}
}

// plausible checks each number by itself. A prompt is never empty, so 0 is a
// server that did not count; and this service sends and asks for text only.
func (u usageBody) plausible() bool {
	for _, c := range []count{u.Prompt, u.Completion, u.Total, u.Hit, u.Miss, u.Input.Cached, u.Input.Written, u.Output.Reasoning} {
		if c.bad {
			return false
		}
	}
	for _, c := range []count{u.Input.Audio, u.Input.Image, u.Output.Audio, u.Output.Image} {
		if c.bad || c.n != 0 {
			return false
		}
	}
	return u.Completion.set && u.Prompt.n > 0
}

// visible is the output without reasoning. The total says whether reasoning
// is inside the completion tokens or beside them; without a total, only a
// completion without reasoning is clear.
func (u usageBody) visible() (int64, bool) {
	p, c, r := u.Prompt.n, u.Completion.n, u.Output.Reasoning.n
	switch {
	case !u.Total.set:
		return c, r == 0
	case u.Total.n == p+c && r <= c:
		return c - r, true
	case u.Total.n == p+c+r && r > 0:
		return c, true
	}
	return 0, false
}
