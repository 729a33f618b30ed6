package task

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Builder builds the prompts of one task on its data.
type Builder struct {
	config  *Config
	columns columns
	sampler Sampler
	shots   int
	system  string
}

// Options are what the caller of a task decides.
type Options struct {
	// Shots is the number of examples; negative means what the task says. A
	// task that says 0 stays at 0.
	Shots  int
	Seed   int64  // of the default sampler; DefaultSeed is lm-eval's own
	System string // comes before the task's description
}

// NewBuilder prepares prompts for documents with the columns of sample, which
// is the first document that is evaluated. pool is what Config.Pool names.
func NewBuilder(c *Config, sample *value.Dict, pool []*value.Dict, o Options) (*Builder, error) {
	b := &Builder{config: c, columns: columns{}, shots: o.Shots, system: o.System}
	for k := range sample.All() {
		if s, ok := k.(string); ok {
			b.columns[s] = true
		}
	}
	if b.shots < 0 || c.Shots == 0 {
		b.shots = max(c.Shots, 0)
	}
	if c.fewshot.indices != nil {
		picked := make([]*value.Dict, len(c.fewshot.indices))
		for i, at := range c.fewshot.indices {
			if at < 0 || at >= len(pool) {
				return nil, pycompat.Raise("IndexError", "fewshot_indices: %d of a pool of %d", at, len(pool))
			}
			picked[i] = pool[at]
		}
		pool = picked
	}
	b.sampler = NewRandom(pool, o.Seed)
	if c.fewshot.first {
		b.sampler = NewFirst(pool)
	}
	return b, nil
}

// Question is what the task makes of one document.
type Question struct {
	// Text is doc_to_text: a text, or the index of a choice (int64).
	Text any
	// Choices is nil for tasks without.
	Choices []string
	// Target is doc_to_target: text, int64 or a list.
	Target any
	// Prefix is what the answer begins with, "" for nothing.
	Prefix string
}

// Question resolves the fields of a document.
func (b *Builder) Question(doc *value.Dict) (Question, error) {
	q, err := b.resolve(doc, b.config.text, b.config.target, b.config.choice)
	if err == nil {
		q.Prefix, err = b.config.prefix.plain(b.columns, doc)
	}
	return q, err
}

// Resolved are the raw values of the fields, before choices are read as text.
func (b *Builder) resolve(doc *value.Dict, text, target, choice *field) (Question, error) {
	var q Question
	var err error
	hasChoices := b.config.choice != nil
	if q.Text, err = text.text(b.columns, doc, hasChoices); err != nil {
		return q, err
	}
	if choice != nil {
		list, err := choice.choices(b.columns, doc)
		if err != nil {
			return q, err
		}
		q.Choices = make([]string, len(list))
		for i, c := range list {
			s, ok := c.(string)
			if !ok {
				return q, pycompat.Raise("TypeError", "choice %d is of type %s", i, value.TypeName(c))
			}
			q.Choices[i] = s
		}
	}
	q.Target, err = target.target(b.columns, doc, hasChoices)
	return q, err
}

// Prompt is a document's prompt. Tasks that put each choice into the prompt
// have several.
type Prompt struct {
	Question
	Contexts [][]Message
}

// Build builds the prompt of the next document: system message and
// description, examples, and the question without its answer.
func (b *Builder) Build(doc *value.Dict) (Prompt, error) {
	q, err := b.Question(doc)
	if err != nil {
		return Prompt{}, err
	}
	p := Prompt{Question: q}
	description, err := b.config.description.plain(b.columns, doc)
	if err != nil {
		return p, err
	}
	var messages []Message
	if s := Join(b.system, description, b.config.FewshotDelimiter); s != "" {
		messages = append(messages, Message{Role: "system", Content: s})
	}
	shots, err := b.examples(doc)
	if err != nil {
		return p, err
	}
	messages = append(messages, shots...)
	at, several := q.Text.(int64)
	if !several {
		last, err := turn{q: q.Text, prefix: q.Prefix, delimiter: b.config.TargetDelimiter}.messages()
		p.Contexts = [][]Message{append(messages, last...)}
		return p, err
	}
	if q.Choices == nil {
		return p, pycompat.Raise("AssertionError", "doc_to_text is the number %d and there are no choices", at)
	}
	for _, c := range q.Choices {
		last, err := turn{q: c, prefix: q.Prefix}.messages()
		if err != nil {
			return p, err
		}
		p.Contexts = append(p.Contexts, append(messages[:len(messages):len(messages)], last...))
	}
	return p, nil
}

// examples are the few-shot turns before a document.
func (b *Builder) examples(doc *value.Dict) ([]Message, error) {
	if b.shots == 0 {
		return nil, nil
	}
	f := b.config.fewshot
	var exclude *value.Dict
	if b.config.excludes() {
		exclude = doc
	}
	picked, err := b.sampler.Sample(b.shots, exclude)
	if err != nil {
		return nil, err
	}
	prefix, err := f.prefix.plain(b.columns, doc)
	if err != nil {
		return nil, err
	}
	var out []Message
	for _, d := range picked {
		q, err := b.resolve(d, f.text, f.target, f.choice)
		if err != nil {
			return nil, err
		}
		t := turn{q: q.Text, choices: q.Choices, answer: q.Target, prefix: prefix, delimiter: f.targetDelimiter, after: f.delimiter}
		if at, ok := q.Text.(int64); ok {
			if at < 0 || at >= int64(len(q.Choices)) {
				return nil, pycompat.Raise("IndexError", "choice %d of %d", at, len(q.Choices))
			}
			t.q, t.choices = q.Choices[at], nil
		}
		m, err := t.messages()
		if err != nil {
			return nil, err
		}
		out = append(out, m...)
	}
	return out, nil
}

// turn is a question with or without its answer.
type turn struct {
	q         any
	choices   []string
	answer    any // nil and "" for none
	prefix    string
	delimiter string // before the answer
	after     string // behind it
}

func (t turn) messages() ([]Message, error) {
	q, ok := t.q.(string)
	if !ok {
		return nil, pycompat.Raise("AssertionError", "the question is of type %s", value.TypeName(t.q))
	}
	answered := t.answer != nil && !value.Equal(t.answer, "")
	user := Message{Role: "user", Content: q}
	switch {
	case answered && t.prefix == "":
		user.Delimiter = t.delimiter
	case t.prefix != "":
		if need, err := NeedsDelimiter(q, t.prefix); err != nil {
			return nil, err
		} else if need {
			user.Delimiter = t.delimiter
		}
	}
	switch {
	case answered:
		text, err := t.answerText()
		if err != nil {
			return nil, err
		}
		return []Message{user, {Role: "assistant", Content: Join(t.prefix, text, " "), Delimiter: t.after}}, nil
	case t.prefix != "":
		return []Message{user, {Role: "assistant", Content: t.prefix}}, nil
	}
	return []Message{user}, nil
}

// answerText is the answer in words: a choice for its index, the first of
// several targets.
func (t turn) answerText() (string, error) {
	a := t.answer
	if b, ok := a.(bool); ok && len(t.choices) > 0 {
		a = int64(0)
		if b {
			a = int64(1)
		}
	}
	switch v := a.(type) {
	case string:
		return v, nil
	case int64:
		if len(t.choices) == 0 {
			break
		}
		if v < 0 {
			v += int64(len(t.choices))
		}
		if v < 0 || v >= int64(len(t.choices)) {
			return "", pycompat.Raise("IndexError", "choice %d of %d", v, len(t.choices))
		}
		return t.choices[v], nil
	case []any:
		if len(v) == 0 {
			return "", pycompat.Raise("IndexError", "the list of targets is empty")
		}
		if s, ok := v[0].(string); ok {
			return s, nil
		}
	}
	return "", pycompat.Raise("AssertionError", "the answer is of type %s", value.TypeName(t.answer))
}
