package pack

import (
	"bytes"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/evalrouter/evalrouter/bundle/jsonl"
)

// Bounds of a task line.
const (
	MaxTargets = 64
	MaxTurns   = 64
	MinChoices = 2
	MaxChoices = 26
	maxIDBytes = 200

	// IDPattern is what the id of a task looks like.
	IDPattern = `^[A-Za-z0-9_.:@+-]{1,200}$`
	MaxGroup  = 200 // characters of a group
)

// taskView is a task line while it is read: views of the line, nothing copied.
type taskView struct {
	id      jsonl.Text
	input   jsonl.Text
	turns   []turnView
	targets []jsonl.Text
	raw     []byte // a target that is other JSON than text
	choices []jsonl.Text
	group   jsonl.Text

	hasID, hasInput, hasTarget bool
}

type turnView struct {
	role bundle.Role
	text jsonl.Text
}

// taskReader reads the lines of a dataset under one manifest.
type taskReader struct {
	p        jsonl.Parser
	v        taskView
	template string
	scratch  []byte
}

// Codes of the faults of lines that are ours; a line's finding is "task_" and
// the code.
const (
	codeUnknown = "field_unknown"
	codeMissing = "field_missing"
	codeRange   = "field_range"
)

// read takes one line apart. The view is valid until the next call and as long
// as the line is.
func (r *taskReader) read(line []byte) (*taskView, *jsonl.Fault) {
	v := &r.v
	*v = taskView{turns: v.turns[:0], targets: v.targets[:0], choices: v.choices[:0]}
	p := &r.p
	p.Reset(line)
	p.Object(func(key jsonl.Text) {
		switch {
		case key.Is("id"):
			v.id, v.hasID = p.Text(), true
			r.checkID()
		case key.Is("input"):
			v.hasInput = true
			r.readInput()
		case key.Is("target"):
			v.hasTarget = true
			r.readTarget()
		case key.Is("choices"):
			r.readChoices()
		case key.Is("group"):
			v.group = p.Text()
			checkName(p, v.group)
		default:
			p.Refuse(codeUnknown, "no such field here")
		}
	})
	if fault := p.Close(); fault != nil {
		return v, fault
	}
	return v, r.whole()
}

// whole looks at what the fields of a line say together.
func (r *taskReader) whole() *jsonl.Fault {
	v := &r.v
	for _, f := range [...]struct {
		there bool
		name  string
	}{{v.hasID, "id"}, {v.hasInput, "input"}, {v.hasTarget, "target"}} {
		if !f.there {
			return &jsonl.Fault{Code: codeMissing, Path: f.name, Message: "the field is required"}
		}
	}
	if choice := r.template == TemplateChoice; choice != (len(v.choices) > 0) {
		if choice {
			return &jsonl.Fault{Code: "choices_form", Path: "choices", Message: "a multiple-choice task needs options"}
		}
		return &jsonl.Fault{Code: "choices_form", Path: "choices", Message: "only multiple-choice tasks have options"}
	}
	if r.template == TemplateChoice {
		for _, t := range v.targets {
			if s := t.String(); len(s) != 1 || s[0] < 'A' || int(s[0]-'A') >= len(v.choices) {
				return &jsonl.Fault{Code: "target_letter", Path: "target", Message: "not the letter of an option"}
			}
		}
	}
	return nil
}

func (r *taskReader) checkID() {
	if r.p.Fault() != nil {
		return
	}
	r.scratch = r.v.id.Append(r.scratch[:0])
	if len(r.scratch) == 0 || len(r.scratch) > maxIDBytes {
		r.p.Refuse(codeRange, "want 1 to %d characters", maxIDBytes)
		return
	}
	for _, c := range r.scratch {
		if !idByte(c) {
			r.p.Refuse(codeRange, "want letters, digits and _.:@+-")
			return
		}
	}
}

func idByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || strings.IndexByte("_.:@+-", c) >= 0
}

// checkName is for short texts that may not be blank.
func checkName(p *jsonl.Parser, t jsonl.Text) {
	if p.Fault() != nil {
		return
	}
	if t.Blank() {
		p.Refuse(codeMissing, "the field must not be blank")
	} else if t.Runes() > MaxGroup {
		p.Refuse(codeRange, "longer than %d characters", MaxGroup)
	}
}

func (r *taskReader) filled(t jsonl.Text) jsonl.Text {
	if r.p.Fault() == nil && t.Blank() {
		r.p.Refuse(codeMissing, "the text must not be blank")
	}
	return t
}

func (r *taskReader) readInput() {
	p := &r.p
	switch k := p.Kind(); {
	case k == jsonl.String && r.template != TemplateConversation:
		r.v.input = r.filled(p.Text())
	case k == jsonl.Array && r.template == TemplateConversation:
		r.readTurns()
	case k == jsonl.String, k == jsonl.Array:
		p.Refuse("input_form", "not the form of input for tasks of this template")
	default:
		p.Refuse(jsonl.CodeType, "want text or an array of messages")
	}
}

func (r *taskReader) readTurns() {
	p := &r.p
	p.Array(func(i int) {
		if i == MaxTurns {
			p.Refuse(codeRange, "more than %d messages", MaxTurns)
			return
		}
		var t turnView
		hasText := false
		p.Object(func(key jsonl.Text) {
			switch {
			case key.Is("role"):
				t.role = r.role(i)
			case key.Is("text"):
				t.text, hasText = r.filled(p.Text()), true
			default:
				p.Refuse(codeUnknown, "no such field here")
			}
		})
		if p.Fault() == nil && (t.role == "" || !hasText) {
			p.Refuse(codeMissing, "a message needs role and text")
		}
		r.v.turns = append(r.v.turns, t)
	})
	if n := len(r.v.turns); p.Fault() == nil && (n == 0 || r.v.turns[n-1].role != bundle.User) {
		p.Refuse("input_turns", "the last message is not the user's")
	}
}

func (r *taskReader) role(i int) bundle.Role {
	t := r.p.Text()
	for _, role := range [...]bundle.Role{bundle.User, bundle.Assistant, bundle.System} {
		if t.Is(string(role)) {
			if role == bundle.System && i > 0 {
				r.p.Refuse("input_turns", "a system message that does not stand first")
			}
			return role
		}
	}
	r.p.Refuse(codeRange, "want one of user, assistant, system")
	return ""
}

func (r *taskReader) readTarget() {
	p := &r.p
	k := p.Kind()
	switch {
	case k == jsonl.String:
		r.v.targets = append(r.v.targets, r.filled(p.Text()))
	case k == jsonl.Number && r.template == TemplateNumeric:
		r.v.targets = append(r.v.targets, p.Number())
	case r.template == TemplateJSON && (k == jsonl.Object || k == jsonl.Array):
		if r.v.raw = p.Raw(); hollow(r.v.raw) {
			p.Refuse(codeMissing, "an empty object or array says nothing")
		}
	case k == jsonl.Array:
		r.readTargets()
	case k == jsonl.Object, k == jsonl.Number:
		p.Refuse("target_form", "not the form of a target for tasks of this template")
	default:
		p.Refuse(jsonl.CodeType, "want text or an array of texts")
	}
}

// hollow says whether an object or array has nothing in it.
func hollow(raw []byte) bool {
	return len(raw) >= 2 && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

func (r *taskReader) readTargets() {
	p := &r.p
	p.Array(func(i int) {
		switch k := p.Kind(); {
		case i == MaxTargets:
			p.Refuse("target_form", "more than %d acceptable answers", MaxTargets)
		case k == jsonl.Number && r.template == TemplateNumeric:
			r.v.targets = append(r.v.targets, p.Number())
		case k == jsonl.String:
			t := p.Text()
			if p.Fault() == nil && t.Blank() {
				p.Refuse("target_blank", "an acceptable answer that is blank")
			}
			r.v.targets = append(r.v.targets, t)
		default:
			p.Refuse("target_form", "an acceptable answer that is not text")
		}
	})
	if p.Fault() == nil && len(r.v.targets) == 0 {
		p.Refuse(codeMissing, "an empty array accepts no answer")
	}
}

func (r *taskReader) readChoices() {
	p := &r.p
	p.Array(func(i int) {
		if i == MaxChoices {
			p.Refuse(codeRange, "more than %d options", MaxChoices)
			return
		}
		c := r.filled(p.Text())
		for _, earlier := range r.v.choices {
			if p.Fault() == nil && earlier.Equal(c) {
				p.Refuse("choice_repeated", "an earlier option is equal")
			}
		}
		r.v.choices = append(r.v.choices, c)
	})
	if p.Fault() == nil && len(r.v.choices) < MinChoices {
		p.Refuse(codeRange, "want at least %d options", MinChoices)
	}
}

// task makes the task that a view is of.
func (v *taskView) task(prompt Prompt) bundle.Task {
	t := bundle.Task{ID: v.id.String(), Group: v.group.String()}
	for _, c := range v.choices {
		t.Choices = append(t.Choices, c.String())
	}
	for _, s := range v.targets {
		t.Target = append(t.Target, s.String())
	}
	if v.raw != nil {
		t.Target = []string{canonical(v.raw)}
	}
	if prompt.System != "" && (len(v.turns) == 0 || v.turns[0].role != bundle.System) {
		t.Input = append(t.Input, bundle.Message{Role: bundle.System, Text: prompt.System})
	}
	if len(v.turns) > 0 {
		for _, m := range v.turns {
			t.Input = append(t.Input, bundle.Message{Role: m.role, Text: m.text.String()})
		}
		return t
	}
	text := v.input.String()
	if prompt.Template != "" {
		input := text
		text = bundle.Fill(prompt.Template, func(name string) string {
			if name == "choices" {
				return bundle.LetterChoices(t.Choices)
			}
			return input
		})
	}
	t.Input = append(t.Input, bundle.Message{Role: bundle.User, Text: text})
	return t
}

// canonical writes a JSON target in the one form that targets have. The line
// has been read, so that it cannot fail.
func canonical(raw []byte) string {
	n, prob := strict.Parse(raw)
	if prob != nil {
		return string(raw)
	}
	return string(strict.Canonical(n))
}
