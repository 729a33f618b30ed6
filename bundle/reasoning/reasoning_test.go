package reasoning_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/reasoning"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, want string
		open             bool
	}{
		{name: "nothing", text: "", want: ""},
		{name: "no marks, untouched", text: "  42 <b>\n", want: "  42 <b>\n"},
		{name: "tags", text: "<think>is it 41?</think>\n\n42", want: "42"},
		{name: "long tags", text: "<thinking>41</thinking>42", want: "42"},
		{name: "thought", text: "<thought>41</thought> 42", want: "42"},
		{name: "reasoning", text: "<reasoning>41</reasoning> 42", want: "42"},
		{name: "Seed", text: "<seed:think>41</seed:think> 42", want: "42"},
		{name: "Mistral", text: "[THINK]41[/THINK]42", want: "42"},
		{name: "Kimi", text: "◁think▷41◁/think▷42", want: "42"},
		{name: "begin and end", text: "<|begin_of_thought|>41<|end_of_thought|>42", want: "42"},
		{name: "Cohere", text: "<|START_THINKING|>41<|END_THINKING|>42", want: "42"},
		{name: "channels", text: "<|channel|>analysis<|message|>41<|end|><|start|>assistant<|channel|>final<|message|>42", want: "42"},
		{name: "opened by the template", text: "it could be 41\n</think>\n42", want: "42"},
		{name: "two blocks", text: "<think>1</think>2<think>3</think>4", want: "4"},
		{name: "prose before", text: "Let me see.\n<think>41</think>42", want: "42"},
		{name: "empty block", text: "<think>\n\n</think>\n\n42", want: "42"},
		{name: "the few-shot examples recited", text: "<think>Q: 1+1 A: #### 2</think>#### 3", want: "#### 3"},
		{name: "nothing after", text: "<think>41</think>\n", want: ""},
		{name: "open", text: "<think>is it 41?", open: true},
		{name: "open after blank lines", text: "\n  <think>41", open: true},
		{name: "open after prose", text: "Let me see.\n<think>41", open: true},
		{name: "opened again", text: "<think>41</think>42\n<think>or 43", open: true},
		{name: "channel open", text: "<|channel|>analysis<|message|>41", open: true},
		{name: "mark inside a line", text: "Write <think> before it. 42", want: "Write <think> before it. 42"},
		{name: "two marks inside a line", text: "Write <think><think> before it. 42", want: "Write <think><think> before it. 42"},
		{name: "reasoning behind the answer", text: "42 <reasoning>6 times 7, not 41</reasoning>", want: "42"},
		{name: "reasoning behind the answer, on lines", text: "42\n<think>\nor 41\n</think>\n", want: "42"},
		{name: "reasoning on both sides", text: "<think>41</think> 42 <think>or 43</think>", want: "42"},
		{name: "closing mark behind the answer", text: "or 41</think>", want: ""},
		{name: "prose and nothing after", text: "Let me see.\n<think>41</think>\n", want: "Let me see."},
		{name: "block opened inside a line", text: "Well <think>41</think> 42", want: "42"},
		{name: "JSON shows marks", text: `{"a":"<think>1</think>2"}`, want: `{"a":"<think>1</think>2"}`},
		{name: "JSON in prose shows marks", text: `Here: {"a":"</think>"} 42`, want: `Here: {"a":"</think>"} 42`},
		{name: "JSON list shows marks", text: `["</think>", 42]`, want: `["</think>", 42]`},
		{name: "JSON behind reasoning shows marks", text: `<think>{"a":</think>{"a":"<think></think>"}`, want: `{"a":"<think></think>"}`},
		{name: "JSON shows an open mark", text: "{\"a\":\n\"<think>\"}", want: "{\"a\":\n\"<think>\"}"},
		{name: "code shows marks", text: "So:\n```xml\n<think>\n1\n</think>\n```\n42", want: "So:\n```xml\n<think>\n1\n</think>\n```\n42"},
		{name: "code shows an open mark", text: "```\n<think>\n```", want: "```\n<think>\n```"},
		{name: "tilde code shows marks", text: "~~~~\n</think>\n~~~\n~~~~\n42", want: "~~~~\n</think>\n~~~\n~~~~\n42"},
		{name: "code in the reasoning", text: "<think>\n```\n1\n</think>\n42\n```\nx\n```", want: "42\n```\nx\n```"},
		{name: "code that nothing closes", text: "```\n41\n</think>\n42", want: "42"},
		{name: "quoted mark", text: "The tag `</think>` ends it: 42", want: "The tag `</think>` ends it: 42"},
		{name: "quoted mark in the reasoning", text: "<think>I end with \"</think>\" and 41</think>42", want: "42"},
		{name: "other case", text: "<THINK>41", want: "<THINK>41"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := reasoning.Visible(tt.text)
			if got.Text != tt.want || got.Open != tt.open {
				t.Errorf("%+v, want %q, open %v", got, tt.want, tt.open)
			}
			if !got.Open && !strings.HasPrefix(tt.text[got.From:], got.Text) {
				t.Errorf("From is %d, which is not where %q starts", got.From, got.Text)
			}
		})
	}
}

// A megabyte of marks is read as fast as any text: every mark at most once for
// each shape.
func TestVisible_IsLinear(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"<think>", "x<think>", "</think>", "x\n<think>\nx", "<", "[THINK]", "{</think>", "[</think>", "```\n</think>\n", "~~~x\n<think>\n", "````</think>\n```\n"} {
		text := "x" + strings.Repeat(piece, 1<<20/len(piece))
		if a := reasoning.Visible(text); len(a.Text) > len(text) {
			t.Errorf("%q grows", piece)
		}
	}
}
