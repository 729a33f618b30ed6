package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/dataset"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/google/go-cmp/cmp"
)

func TestReadFields(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_read_fields", func(t *testing.T, c vt.Case) {
		if vt.Str(c.Params, "function") == "normalise_sample_id" {
			id, _ := c.Input.Get("id")
			if got := dataset.SortKey(id); got != c.Expected {
				t.Errorf("key of %s = %q, want %v", value.Repr(id), got, c.Expected)
			}
			return
		}
		v, _ := c.Input.Get("v")
		var choices any
		if list := dataset.Choices(v); list != nil {
			choices = texts(list)
		}
		target, list := dataset.Target(v)
		got := value.DictOf("choices", choices, "target", any(target[0]))
		if list {
			if err := got.Set("target", texts(target)); err != nil {
				t.Fatal(err)
			}
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("fields of %s = %s, want %s", value.Repr(v), value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// made are the samples that the vectors were made with: two to four choices,
// and an array of A and B as every other target.
func made(n int) []dataset.Sample {
	out := make([]dataset.Sample, n)
	for i := range out {
		s := dataset.Sample{ID: int64(i), Target: score.Target{"A"}}
		for _, l := range "abcd"[:2+i%3] {
			s.Choices = append(s.Choices, value.Str(int64(i))+string(l))
		}
		if i%2 == 0 {
			s.Target, s.List = score.Target{"A", "B"}, true
		}
		out[i] = s
	}
	return out
}

func TestShuffle(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_shuffle_choices", func(t *testing.T, c vt.Case) {
		in, seed := made(vt.Int(c.Input, "n")), int64(vt.Int(c.Params, "seed"))
		var got []any
		if vt.Str(c.Params, "function") == "shuffle" {
			for _, s := range dataset.Shuffle(in, seed) {
				got = append(got, s.ID)
			}
		} else {
			out, err := dataset.ShuffleChoices(in, seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range out {
				var target any = s.Target[0]
				if s.List {
					target = texts(s.Target)
				}
				got = append(got, value.DictOf("choices", texts(s.Choices), "target", target))
			}
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("shuffled = %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func user(text string) []bundle.Message { return []bundle.Message{{Role: bundle.User, Text: text}} }

func TestRead(t *testing.T) {
	t.Parallel()
	one := func(in, target string) []dataset.Sample {
		return []dataset.Sample{{Input: user(in), Target: score.Target{target}}}
	}
	for _, c := range []struct {
		name, format, data string
		reader             dataset.Reader
		want               []dataset.Sample
		err                string
	}{
		{"csv", "csv", "input,target\nq,a\n", dataset.Reader{}, one("q", "a"), ""},
		{"csv quotes", "csv", "input,target\n\"say \"\"x\"\", then\ny\",a\"b\n", dataset.Reader{}, one("say \"x\", then\ny", "a\"b"), ""},
		{"csv text behind a quote", "csv", "input,target\n\"q\"z,a\n", dataset.Reader{}, one("qz", "a"), ""},
		{"csv blank lines", "csv", "\ninput,target\n\n , \nq,a\n", dataset.Reader{}, one("q", "a"), ""},
		{"csv lone CR", "csv", "input,target\rq,a\r", dataset.Reader{}, one("q", "a"), ""},
		{"csv short row", "csv", "input,target\nq\n", dataset.Reader{}, one("q", ""), ""},
		{"csv short blank row", "csv", "input,target\n \n", dataset.Reader{}, nil, "AttributeError"},
		{"csv delimiter and names", "csv", "q;a\n", dataset.Reader{Delimiter: ';', Names: []string{"input", "target"}}, one("q", "a"), ""},
		{"csv empty", "csv", "", dataset.Reader{}, nil, ""},
		{"public fault B35: UTF-8 mark", "csv", "\ufeffinput,target\r\nq\ufeff,a\r\n", dataset.Reader{}, one("q\ufeff", "a"), ""},
		{"public fault B35: UTF-16", "csv", "\xff\xfei\x00n\x00p\x00u\x00t\x00\n\x00\xfc\x00\n\x00", dataset.Reader{}, one("ü", ""), ""},
		{"public fault B35: Windows code page", "csv", "input,target\ncaf\xe9,a\n", dataset.Reader{}, nil, "line 2: the byte 0xe9 is not UTF-8"},
		{"json lines", "jsonl", "{\"input\": \"q\", \"target\": 5}\n{\"input\": \"r\", \"target\": [1.0, true]}\n", dataset.Reader{AutoID: true},
			[]dataset.Sample{{ID: int64(1), Input: user("q"), Target: score.Target{"5"}}, {ID: int64(2), Input: user("r"), Target: score.Target{"1.0", "True"}, List: true}}, ""},
		{"json lines with a blank one", "jsonl", "{\"input\": \"q\"}\n\n{\"input\": \"q\"}\n", dataset.Reader{}, nil, "line 2"},
		{"json lines empty", "jsonl", "", dataset.Reader{}, nil, ""},
		{"json mapped", "json", `[{"id": "x", "question": "q", "answer": "B", "options": "p, q"}]`,
			dataset.Reader{Input: "question", Target: "answer", Choices: "options"},
			[]dataset.Sample{{ID: "x", Input: user("q"), Target: score.Target{"B"}, Choices: []string{"p", "q"}}}, ""},
		{"json no array", "json", `{"input": "q"}`, dataset.Reader{}, nil, "not an array"},
		{"messages", "json", `[{"input": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "q"}]}], "target": "a"}]`, dataset.Reader{},
			[]dataset.Sample{{Input: []bundle.Message{{Role: bundle.System, Text: "s"}, {Role: bundle.User, Text: "q"}}, Target: score.Target{"a"}}}, ""},
		{"a picture", "json", `[{"input": [{"role": "user", "content": [{"type": "image", "image": "x"}]}]}]`, dataset.Reader{}, nil, "'image' is not supported"},
		{"no input", "json", `[{"target": "a"}]`, dataset.Reader{}, nil, "no input"},
		{"a sandbox", "json", `[{"input": "q", "sandbox": "docker"}]`, dataset.Reader{}, nil, "sandbox asks for an environment"},
		{"metadata that is a list", "json", `[{"input": "q", "metadata": []}]`, dataset.Reader{}, nil, "metadata is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read := map[string]func([]byte) ([]dataset.Sample, error){"csv": c.reader.CSV, "json": c.reader.JSON, "jsonl": c.reader.JSONLines}[c.format]
			got, err := read([]byte(c.data))
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error = %v, want %q in it", err, c.err)
			}
			if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b *value.Dict) bool { return a == b || a != nil && b != nil && vt.Same(a, b) })); d != "" && len(c.want)+len(got) > 0 {
				t.Error(d)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, record, want string
		keep               []string
	}{
		{"field", `{"input": "q", "metadata": {"a": 1}}`, "{'a': 1}", nil},
		{"text", `{"input": "q", "metadata": "{\"a\": 1.0}"}`, "{'a': 1.0}", nil},
		{"named", `{"input": "q", "b": null, "c": "x"}`, "{'c': 'x', 'd': None}", []string{"c", "d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := dataset.Reader{Metadata: c.keep}.JSONLines([]byte(c.record))
			if err != nil || value.Repr(got[0].Metadata) != c.want {
				t.Errorf("metadata = %s, %v; want %s", value.Repr(got[0].Metadata), err, c.want)
			}
		})
	}
}

// The reference's own example sets read whole.
func TestExampleSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file   string
		reader dataset.Reader
		want   int
	}{
		{"biology_qa.jsonl", dataset.Reader{Input: "question", Target: "answer"}, 20},
		{"popularity.jsonl", dataset.Reader{Input: "question", Target: "answer_matching_behavior", Metadata: []string{"label_confidence"}}, 100},
		{"theory_of_mind.jsonl", dataset.Reader{}, 100},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(vt.Shared(t, filepath.Join("data", "inspect"), c.file))
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.reader.JSONLines(data)
			if err != nil || len(got) != c.want {
				t.Fatalf("%d samples, %v; want %d", len(got), err, c.want)
			}
			for i, s := range got {
				if task := s.Task("x"); len(task.Input) == 0 || task.Input[0].Text == "" || task.Target[0] == "" {
					t.Errorf("sample %d has no input or target", i)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("input,target\n\"a\"\"b\",c\n"))
	f.Add([]byte(`[{"input": "q", "choices": "a,b", "target": ["A"]}]`))
	f.Add([]byte("{\"input\": [{\"role\": \"user\", \"content\": \"x\"}]}\n"))
	f.Add([]byte("\xff\xfea\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r dataset.Reader
		for _, read := range []func([]byte) ([]dataset.Sample, error){r.CSV, r.JSON, r.JSONLines} {
			got, err := read(data)
			if err != nil {
				continue
			}
			for _, s := range got {
				if len(s.Input) == 0 || len(s.Target) == 0 && !s.List {
					t.Errorf("a sample without input or target: %+v", s)
				}
			}
		}
	})
}
