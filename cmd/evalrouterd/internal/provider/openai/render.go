package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

type chatBody struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	// MaxTokens is the older name of the output limit. Ollama and LM Studio
	// know no other; OpenAI's newer models reject it.
	MaxTokens           int    `json:"max_tokens,omitempty"`
	MaxCompletionTokens int    `json:"max_completion_tokens"`
	ServiceTier         string `json:"service_tier,omitempty"`
	Store               *bool  `json:"store,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatRequest sets the output limit under each name that the host takes. To
// OpenAI it also says what would otherwise follow from a setting of the
// account: the standard tier, whose prices are the published ones, and that
// nothing is to be stored.
func chatRequest(r provider.Request, h host) any {
	b := chatBody{Model: r.Target.ModelID, MaxCompletionTokens: r.MaxOutput, Messages: make([]message, len(r.Messages))}
	for i, m := range r.Messages {
		b.Messages[i] = message{string(m.Role), m.Text}
	}
	switch h {
	case openAI:
		b.ServiceTier, b.Store = "default", new(bool)
	case azure:
	default:
		b.MaxTokens = r.MaxOutput
	}
	return b
}

type textBody struct {
	Model     string `json:"model"`
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens"`
}

// separator stands between the messages of a prompt.
const separator = "\n\n"

func textRequest(r provider.Request, _ host) any {
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = m.Text
	}
	return textBody{Model: r.Target.ModelID, Prompt: strings.Join(texts, separator), MaxTokens: r.MaxOutput}
}

// Render is the body of the request.
func (a *Adapter) Render(r provider.Request) ([]byte, error) {
	at, err := locate(r.Target.BaseURL, a.api.path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.api.render(r, at.host)); err != nil {
		return nil, fmt.Errorf("render request to %s: %w", at.host, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Bound is the most input tokens that r can be billed for. A tokenizer makes
// at most one token of a byte, but may normalise the text first and then sees
// more bytes than were sent; and servers add a template around each message
// and around the whole.
func (a *Adapter) Bound(r provider.Request) int64 {
	perMessage, base := int64(16), int64(256)
	if at, err := locate(r.Target.BaseURL, a.api.path); err == nil && (at.host == openAI || at.host == azure) {
		perMessage, base = 8, 64
	}
	n := base + perMessage*int64(len(r.Messages))
	for _, m := range r.Messages {
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
