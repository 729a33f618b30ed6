package openai_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
)

// An ordinary answer is told without its tree, and everything else is left to
// Parse; that both agree CheckParse says of every body.
func TestText(t *testing.T) {
	t.Parallel()
	const tail = `,"finish_reason":"stop"`
	for _, c := range []struct {
		name, body, text string
		left             bool // to Parse
	}{
		{name: "text", body: chatBody(`"message":{"role":"assistant","content":"4"}`+tail, ","+usageJSON), text: "4"},
		{name: "empty", body: chatBody(`"message":{"content":""}`+tail, ""), text: ""},
		{name: "escapes", body: chatBody(`"message":{"content":"a\n\"b\\\/\t\r\u00e9é"}`+tail, ""), text: "a\n\"b\\/\t\ré\u00e9"},
		{name: "half a character", body: chatBody(`"message":{"content":"\ud800x"}`+tail, ""), text: "\ufffdx"},
		{name: "no UTF-8", body: chatBody("\"message\":{\"content\":\"a\xffb\"}"+tail, ""), text: "a\ufffdb"},
		{name: "cut off", body: chatBody(`"message":{"content":"4"},"finish_reason":"length"`, ""), text: "4"},
		{name: "reasoning beside", body: chatBody(`"message":{"content":"4","reasoning_content":"{\"x\"","tool_calls":[{"a":[1,-2.5e+3,true,null]}]}`+tail, ""), text: "4"},
		{name: "refused", body: chatBody(`"message":{"content":"4","refusal":"No."}`+tail, ""), left: true},
		{name: "filtered", body: chatBody(`"message":{"content":"4"},"finish_reason":"content_filter"`, ""), left: true},
		{name: "parts", body: chatBody(`"message":{"content":[{"type":"text","text":"a"}]}`+tail, ""), left: true},
		{name: "an error beside", body: chatBody(`"message":{"content":"4"}`+tail, `,"error":{"message":"no"}`), left: true},
		{name: "a name in other letters", body: chatBody(`"message":{"content":"4"}`+tail, `,"Error":{"message":"no"}`), left: true},
		{name: "a name twice", body: chatBody(`"message":{"content":"4","content":"5"}`+tail, ""), left: true},
		{name: "two bodies", body: strings.Repeat(chatBody(`"message":{"content":"4"}`+tail, ""), 2), left: true},
		{name: "no end", body: strings.TrimSuffix(chatBody(`"message":{"content":"4"}`+tail, ""), "}"), left: true},
		{name: "no number", body: chatBody(`"message":{"content":"4"}`+tail, `,"created":01`), left: true},
		{name: "deep", body: chatBody(`"message":{"content":"4"}`+tail, `,"timings":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)), left: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := openai.Chat(config(nil))
			if text, ok := a.Text([]byte(c.body)); ok == c.left || ok && text != c.text {
				t.Errorf("%q, %t", text, ok)
			}
			if o := a.Parse([]byte(c.body)); !c.left && o.Text != c.text {
				t.Errorf("Parse reads %q", o.Text)
			}
		})
	}
}
