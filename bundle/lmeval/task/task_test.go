package task_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/task"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func builder(t *testing.T, config, sample *value.Dict, pool []*value.Dict, o task.Options) *task.Builder {
	t.Helper()
	c, err := task.Read(config)
	if err != nil {
		t.Fatal(err)
	}
	b, err := task.NewBuilder(c, sample, pool, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func list(xs []string) any {
	if xs == nil {
		return nil
	}
	out := make([]any, len(xs))
	for i, x := range xs {
		out[i] = x
	}
	return out
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_doc_to", func(t *testing.T, c vt.Case) {
		doc := vt.Dict(c.Input, "doc")
		q, err := builder(t, vt.Dict(c.Input, "config"), doc, nil, task.Options{}).Question(doc)
		if vt.Raised(t, c, err) {
			return
		}
		got := value.DictOf("target", q.Target, "choices", list(q.Choices), "text", q.Text)
		if !vt.Same(got, c.Expected) {
			t.Errorf("question %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func docs(v any) []*value.Dict {
	var out []*value.Dict
	list, _ := v.([]any)
	for _, d := range list {
		out = append(out, d.(*value.Dict))
	}
	return out
}

// render writes a prompt as the vectors do.
func render(p task.Prompt, chat, multi bool) string {
	m := p.Contexts[0]
	if !chat {
		return task.Text(m)
	}
	if !multi {
		m = task.SingleTurn(m)
	}
	s := ""
	for _, x := range m {
		s += "<" + x.Role + ">" + x.Content + "</" + x.Role + ">"
	}
	if p.Prefix == "" {
		s += "<assistant>"
	}
	return s
}

func TestBuild(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_fewshot_context", func(t *testing.T, c vt.Case) {
		splits := vt.Dict(c.Input, "splits")
		config, err := task.Read(vt.Dict(c.Input, "config"))
		if err != nil {
			t.Fatal(err)
		}
		evaluated, _ := splits.Get(config.Evaluate)
		split, pool := config.Pool()
		if pool == nil {
			v, _ := splits.Get(split)
			pool = docs(v)
		}
		tests := docs(evaluated)
		b, err := task.NewBuilder(config, tests[0], pool, task.Options{
			Shots: vt.Int(c.Params, "num_fewshot"), Seed: int64(vt.Int(c.Params, "seed")), System: vt.Str(c.Params, "system_instruction"),
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Expected.([]any) {
			p, err := b.Build(tests[i])
			if err != nil {
				t.Fatal(err)
			}
			if got := render(p, vt.Flag(c.Params, "apply_chat_template"), vt.Flag(c.Params, "fewshot_as_multiturn")); got != want {
				t.Errorf("prompt %d = %q\nwant %q", i, got, want)
			}
		}
	})
}

func TestSampler(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_sampler", func(t *testing.T, c vt.Case) {
		pool := make([]*value.Dict, vt.Int(c.Input, "n_docs"))
		for i := range pool {
			pool[i] = value.DictOf("id", int64(i))
		}
		s := task.NewRandom(pool, int64(vt.Int(c.Params, "seed")))
		excluded := vt.List(c.Params, "eval_doc")
		calls, _ := c.Expected.([]any)
		for i := range max(len(calls), 1) {
			var exclude *value.Dict
			if excluded != nil {
				exclude = pool[excluded[i].(int64)]
			}
			picked, err := s.Sample(vt.Int(c.Params, "k"), exclude)
			if vt.Raised(t, c, err) {
				return
			}
			got := []any{}
			for _, d := range picked {
				id, _ := d.Get("id")
				got = append(got, id)
			}
			if !vt.Same(got, calls[i]) {
				t.Errorf("call %d = %s, want %s", i, value.Repr(got), value.Repr(calls[i]))
			}
		}
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_message_utils", func(t *testing.T, c vt.Case) {
		prefix, suffix := vt.Str(c.Input, "prefix"), vt.Str(c.Input, "suffix")
		var messages []task.Message
		for _, m := range vt.List(c.Input, "messages") {
			x := m.([]any)
			messages = append(messages, task.Message{Role: x[0].(string), Content: x[1].(string), Delimiter: x[2].(string)})
		}
		var got any
		var err error
		switch vt.Str(c.Params, "function") {
		case "maybe_delimit":
			got = task.Join(prefix, suffix, " ")
		case "requires_delimiter":
			got, err = task.NeedsDelimiter(prefix, suffix)
		case "messages_to_text":
			got = task.Text(messages)
		case "multiturn_to_singleturn":
			turns := []any{}
			for _, m := range task.SingleTurn(messages) {
				turns = append(turns, value.DictOf("role", m.Role, "content", m.Content))
			}
			got = turns
		default:
			t.Fatal("unknown function")
		}
		if vt.Raised(t, c, err) {
			return
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("got %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestLimit(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_limit_iter", func(t *testing.T, c vt.Case) {
		n, limit := vt.Int(c.Input, "n"), -1.0
		if v, _ := c.Params.Get("limit"); v != nil {
			limit = vt.Float(t, v)
		}
		want := vt.List(vt.Dict(vt.Wrap(c.Expected), "expected"), "docs")
		if got := task.Limit(n, limit); got != len(want) {
			t.Errorf("Limit(%d, %v) = %d, want %d", n, limit, got, len(want))
		}
	})
}
