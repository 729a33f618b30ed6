package bundle_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/google/go-cmp/cmp"
)

// manifestFor builds a valid manifest around data: country and capital, with
// the parts of edit put in.
func manifestFor(t interface {
	Helper()
	Fatal(...any)
}, data, format string, edit ...string,
) bundle.Manifest {
	t.Helper()
	text := strings.Replace(good, `"jsonl", "sha256"`, `"`+format+`", "sha256"`, 1)
	sum := sha256.Sum256([]byte(data))
	text = strings.Replace(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hex.EncodeToString(sum[:]), 1)
	text = strings.NewReplacer(edit...).Replace(text)
	m, err := bundle.ReadManifest(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// load collects what Load yields: tasks, and codes with rows.
func load(ctx context.Context, m bundle.Manifest, data string) (tasks []bundle.Task, wrong []string) {
	for x, err := range m.Load(ctx, strings.NewReader(data)) {
		var f *bundle.Finding
		switch {
		case err == nil:
			tasks = append(tasks, x)
		case errors.As(err, &f):
			wrong = append(wrong, f.Code+"@"+strconv.Itoa(f.Row))
		default:
			wrong = append(wrong, err.Error())
		}
	}
	return tasks, wrong
}

const choiceColumns = `"input": ["country"], "choices": ["options"]`

func TestLoad_Rows(t *testing.T) {
	t.Parallel()
	line := `{"country":"Chad","capital":"N'Djamena"}` + "\n"
	shown := []string{`"input": ["country"]`, choiceColumns, `of {{country}}?`, `of {{country}}?\n{{choices}}`}
	for _, c := range []struct {
		name, format, data string
		edit               []string
		tasks              int
		wrong              []string
	}{
		{"one", "jsonl", line, nil, 1, nil},
		{"last line without end", "jsonl", line + strings.TrimSpace(line), nil, 2, nil},
		{"blank lines", "jsonl", "\n" + line + "  \n\n" + line, nil, 2, nil},
		{"CRLF", "jsonl", strings.ReplaceAll(line+line, "\n", "\r\n"), nil, 2, nil},
		{"empty file", "jsonl", "", nil, 0, []string{"selection_empty@0"}},
		{"only blank lines", "jsonl", "\n \n", nil, 0, []string{"selection_empty@0"}},
		{"bad row between good ones", "jsonl", line + "{\n" + line, nil, 2, []string{"row_json_syntax@2"}},
		{"array row", "jsonl", "[1]\n", nil, 0, []string{"row_field_type@1"}},
		{"duplicate key", "jsonl", `{"country":"a","capital":"b","capital":"c"}`, nil, 0, []string{"row_json_duplicate_key@1"}},
		{"missing target", "jsonl", `{"country":"a"}`, nil, 0, []string{"row_column_missing@1"}},
		{"missing input", "jsonl", `{"capital":"a"}`, nil, 0, []string{"row_column_missing@1"}},
		{"null target", "jsonl", `{"country":"a","capital":null}`, nil, 0, []string{"row_column_type@1"}},
		{"list target", "jsonl", `{"country":"a","capital":["b"]}`, nil, 0, []string{"row_column_type@1"}},
		{"blank target", "jsonl", `{"country":"a","capital":" "}`, nil, 0, []string{"row_blank@1"}},
		{"blank input", "jsonl", `{"country":" ","capital":"a"}`, nil, 0, []string{"row_blank@1"}},
		{"number target", "jsonl", `{"country":"a","capital":51.0}`, nil, 1, nil},
		{"broken UTF-8", "jsonl", "{\"country\":\"\xff\",\"capital\":\"a\"}\n" + line, nil, 1, []string{"row_json_encoding@1"}},
		{"line too long", "jsonl", line + `{"country":"` + strings.Repeat("x", bundle.MaxRowBytes) + `","capital":"a"}`, nil, 1, []string{"row_too_large@0"}},
		{"id too long", "jsonl", `{"country":"a","capital":"b","n":"` + strings.Repeat("x", 201) + `"}`, []string{`"target":`, `"id": "n", "target":`}, 0, []string{"row_id_invalid@1"}},
		{"id invalid", "jsonl", `{"country":"a","capital":"b","n":"x y"}`, []string{`"target":`, `"id": "n", "target":`}, 0, []string{"row_id_invalid@1"}},
		{"id twice", "jsonl", `{"country":"a","capital":"b","n":1}` + "\n" + `{"country":"c","capital":"d","n":"1"}`, []string{`"target":`, `"id": "n", "target":`}, 1, []string{"row_id_duplicate@2"}},
		{"pattern without match", "jsonl", line, []string{`"prompt"`, `"target_pattern": "#### (.*)", "prompt"`}, 0, []string{"row_pattern@1"}},
		{"CSV", "csv", "country,capital\nChad,N'Djamena\nMali,Bamako\n", nil, 2, nil},
		{"CSV quoted lines", "csv", "country,capital\n\"Cha\nd\",\"N'Dja\"\"mena\"\n", nil, 1, nil},
		{"CSV header only", "csv", "country,capital\n", nil, 0, []string{"selection_empty@0"}},
		{"CSV column twice", "csv", "country,country\na,b\n", nil, 0, []string{"data_shape@0"}},
		{"CSV short row", "csv", "country,capital\nChad\n", nil, 0, []string{"data_syntax@0"}},
		{"CSV open quote", "csv", "country,capital\n\"Chad,x\n", nil, 0, []string{"data_syntax@0"}},
		{"CSV column missing", "csv", "country;capital\nChad;x\n", nil, 0, []string{"row_column_missing@1"}},
		{"JSON", "json", `[{"country":"a","capital":"b"}, {"country":"c","capital":"d"}]`, nil, 2, nil},
		{"JSON bad row between", "json", `[{"country":"a","capital":"b"}, 7, {"country":"c","capital":"d"}]`, nil, 2, []string{"row_field_type@2"}},
		{"JSON object", "json", `{"country":"a"}`, nil, 0, []string{"data_shape@0"}},
		{"JSON cut off", "json", `[{"country":"a","capital":"b"},`, nil, 1, []string{"data_syntax@0"}},
		{"JSON more text", "json", `[{"country":"a","capital":"b"}] []`, nil, 1, []string{"data_syntax@0"}},
		{"JSON empty", "json", `[]`, nil, 0, []string{"selection_empty@0"}},
		{"JSON nothing", "json", ``, nil, 0, []string{"data_syntax@0"}},
		{"JSON under a key", "json", `{"canary":"x","examples":[{"country":"a","capital":"b"}],"n":[1]}`, []string{`"format": "json"`, `"format": "json", "rows": "examples"`}, 1, nil},
		{"JSON key missing", "json", `{"canary":"x"}`, []string{`"format": "json"`, `"format": "json", "rows": "examples"`}, 0, []string{"data_shape@0"}},
		{"JSON key twice", "json", `{"examples":[{"country":"a","capital":"b"}],"examples":[]}`, []string{`"format": "json"`, `"format": "json", "rows": "examples"`}, 1, []string{"data_shape@0"}},
		{"choices", "jsonl", `{"country":"a","capital":"B","options":["x","y"]}`, shown, 1, nil},
		{"choices one", "jsonl", `{"country":"a","capital":"A","options":["x"]}`, shown, 0, []string{"row_choices@1"}},
		{"choices not a list", "jsonl", `{"country":"a","capital":"A","options":"x"}`, shown, 0, []string{"row_column_type@1"}},
		{"choice blank", "jsonl", `{"country":"a","capital":"A","options":["x",""]}`, shown, 0, []string{"row_blank@1"}},
		{"letter beyond the choices", "jsonl", `{"country":"a","capital":"C","options":["x","y"]}`, shown, 0, []string{"row_target_no_choice@1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := manifestFor(t, c.data, c.format, c.edit...)
			tasks, wrong := load(t.Context(), m, c.data)
			if len(tasks) != c.tasks {
				t.Errorf("%d tasks, want %d", len(tasks), c.tasks)
			}
			if d := cmp.Diff(c.wrong, wrong); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
			if err := m.Verify(t.Context(), strings.NewReader(c.data)); err != nil {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestLoad_Task(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format, data string
		edit               []string
		want               bundle.Task
	}{
		{
			"plain text is not searched again", "jsonl", `{"country":"{{capital}} {{choices}} %s \\1","capital":" x "}`, nil,
			bundle.Task{ID: "000000", Input: []bundle.Message{{Role: bundle.User, Text: `What is the capital of {{capital}} {{choices}} %s \1?`}}, Target: []string{"x"}},
		},
		{
			"system, group, id, last match of the pattern", "jsonl", `{"country":"a","capital":"#### 1\n#### 2","g":7,"n":"id-1"}`,
			[]string{`"prompt": {`, `"target_pattern": "#### (.*)", "prompt": {"system": "Be brief.", `, `"target":`, `"group": "g", "id": "n", "target":`},
			bundle.Task{ID: "id-1", Group: "7", Input: []bundle.Message{{Role: bundle.System, Text: "Be brief."}, {Role: bundle.User, Text: "What is the capital of a?"}}, Target: []string{"2"}},
		},
		{
			"choices with their own letters", "jsonl", `{"country":"a","capital":"B","options":["A) x","B) y"]}`,
			[]string{`"input": ["country"]`, choiceColumns, `of {{country}}?`, `of {{ country }}?\n{{choices}}`, `"prompt"`, `"choice_pattern": "^[A-Z]\\) (.*)$", "prompt"`},
			bundle.Task{ID: "000000", Input: []bundle.Message{{Role: bundle.User, Text: "What is the capital of a?\nA) x\nB) y"}}, Target: []string{"B"}, Choices: []string{"x", "y"}},
		},
		{
			"choices in columns, target by index", "csv", "country,a,b,capital\nX,one,two,1\n",
			[]string{`"input": ["country"]`, `"input": ["country"], "choices": ["a", "b"], "target_format": "index"`, `of {{country}}?`, `of {{country}}?\n{{choices}}`},
			bundle.Task{ID: "000000", Input: []bundle.Message{{Role: bundle.User, Text: "What is the capital of X?\nA) one\nB) two"}}, Target: []string{"B"}, Choices: []string{"one", "two"}},
		},
		{
			"target by the option's words", "jsonl", `{"country":"a","capital":"y","options":["x","y"]}`,
			[]string{`"input": ["country"]`, choiceColumns + `, "target_format": "choice"`, `of {{country}}?`, `{{country}}\n{{choices}}`},
			bundle.Task{ID: "000000", Input: []bundle.Message{{Role: bundle.User, Text: "What is the capital a\nA) x\nB) y"}}, Target: []string{"B"}, Choices: []string{"x", "y"}},
		},
		{
			"several targets", "jsonl", `{"country":"a","capital":["x","y"]}`, []string{`"target":`, `"target_format": "list", "target":`},
			bundle.Task{ID: "000000", Input: []bundle.Message{{Role: bundle.User, Text: "What is the capital of a?"}}, Target: []string{"x", "y"}},
		},
		{
			"JSON target", "jsonl", `{"country":"a","capital":{"b":[1.0,"<>"],"a":null}}`, []string{`"target":`, `"target_format": "json", "target":`},
			bundle.Task{ID: "000000", Input: []bundle.Message{{Role: bundle.User, Text: "What is the capital of a?"}}, Target: []string{`{"a":null,"b":[1.0,"<>"]}`}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tasks, wrong := load(t.Context(), manifestFor(t, c.data, c.format, c.edit...), c.data)
			if d := cmp.Diff([]bundle.Task{c.want}, tasks); d != "" || wrong != nil {
				t.Errorf("%v\n%s", wrong, d)
			}
		})
	}
}

// Public faults in reading data, each with the right result.
func TestLoad_PublicBugs(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("testdata", "publicbugs", "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		n++
		var c struct {
			Name, Ref, Format string
			Bytes             []byte // base64, because some are not UTF-8
			Countries         []string
			Wrong             []string
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			data := string(c.Bytes)
			tasks, wrong := load(t.Context(), manifestFor(t, data, c.Format), data)
			var got []string
			for _, x := range tasks {
				got = append(got, strings.TrimSuffix(strings.TrimPrefix(x.Input[0].Text, "What is the capital of "), "?"))
			}
			if d := cmp.Diff(c.Countries, got); d != "" {
				t.Errorf("tasks (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.Wrong, wrong); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
		})
	}
	if n < 10 {
		t.Errorf("only %d cases", n)
	}
}

func TestVerify_ExactBytes(t *testing.T) {
	t.Parallel()
	const data = `{"country":"a","capital":"b"}` + "\n"
	for _, c := range []struct {
		name, data string
		edit       []string
		code       string
	}{
		{"one byte more", data + "\n", nil, "data_digest"},
		{"one byte less", data[:len(data)-1], nil, "data_digest"},
		{"another size", data, []string{`"format": "jsonl"`, `"format": "jsonl", "bytes": 7`}, "data_size"},
		{"right size", data, []string{`"format": "jsonl"`, `"format": "jsonl", "bytes": 30`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := manifestFor(t, data, "jsonl", c.edit...)
			err := m.Verify(t.Context(), strings.NewReader(c.data))
			var f *bundle.Finding
			if c.code == "" && err == nil {
				return
			}
			if !errors.As(err, &f) || f.Code != c.code {
				t.Errorf("verify gives %v, want %s", err, c.code)
			}
			// The second pass notices a file that changed in between.
			if _, wrong := load(t.Context(), m, c.data); len(wrong) != 1 || wrong[0] != c.code+"@0" {
				t.Errorf("load gives %v, want %s", wrong, c.code)
			}
		})
	}
}

// endless gives rows for ever.
type endless struct{ row string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.row) <= len(p) {
		n += copy(p[n:], e.row)
	}
	if n == 0 {
		return copy(p, e.row[:min(len(p), len(e.row))]), nil
	}
	return n, nil
}

func TestLoad_Limits(t *testing.T) {
	t.Parallel()
	m := manifestFor(t, "x", "jsonl")
	err := m.Verify(t.Context(), endless{"x"})
	var f *bundle.Finding
	if !errors.As(err, &f) || f.Code != "data_too_large" {
		t.Errorf("verify of an endless file gives %v", err)
	}
	tasks, last := 0, ""
	for _, err := range m.Load(t.Context(), endless{`{"country":"a","capital":"b"}` + "\n"}) {
		if errors.As(err, &f) {
			last = f.Code
			continue
		}
		tasks++
	}
	if tasks != bundle.MaxRows || last != "rows_too_many" {
		t.Errorf("%d tasks, then %s", tasks, last)
	}
}

func TestLoad_StopsWhenAsked(t *testing.T) {
	t.Parallel()
	m := manifestFor(t, "x", "jsonl")
	n := 0
	for range m.Load(t.Context(), endless{`{"country":"a","capital":"b"}` + "\n"}) {
		if n++; n == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range m.Load(ctx, endless{`{"country":"a","capital":"b"}` + "\n"}) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v", last)
	}
}

func TestCheck_Reports(t *testing.T) {
	t.Parallel()
	const data = `{"country":"a","capital":"12"}
{"country":"b","capital":"twelve"}
{"country":"c"}
{"country":"d","capital":"13"}
`
	m := manifestFor(t, data, "jsonl", `{"kind": "exact_match", "options": {"ignore_case": true}}`, `{"kind": "numeric"}`)
	g, err := generic.New(m.Grader)
	if err != nil {
		t.Fatal(err)
	}
	open := func(s string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	rep, err := m.Check(t.Context(), open(data), g)
	if err != nil {
		t.Fatal(err)
	}
	want := bundle.Report{Rows: 4, Tasks: 2, Total: 2, Findings: []bundle.Finding{
		{Code: "gold_not_gradable", Path: "target", Row: 2, Message: "read target 0: not one plain number"},
		{Code: "row_column_missing", Path: "capital", Row: 3, Line: 3, Message: "the row lacks the column"},
	}}
	if d := cmp.Diff(want, rep); d != "" || rep.Err() == nil {
		t.Errorf("report (-want +got), err %v:\n%s", rep.Err(), d)
	}
	rep, err = m.Check(t.Context(), open(data+" "), g)
	if err != nil || rep.Total != 1 || rep.Tasks != 0 || rep.Findings[0].Code != "data_digest" {
		t.Errorf("a file with another digest gives %+v %v", rep, err)
	}
	if _, err := m.Check(t.Context(), func() (io.ReadCloser, error) { return nil, os.ErrNotExist }, g); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"country":"a","capital":"b"}`), uint8(0))
	f.Add([]byte(`[{"country":"a","capital":"b"}]`), uint8(1))
	f.Add([]byte(`{"rows":[{"country":"a","capital":"b"}]}`), uint8(2))
	f.Add([]byte("country,capital\na,b\n"), uint8(3))
	f.Add([]byte("\xef\xbb\xbf\"country\",capital\r\na,\"b\"\r\n"), uint8(3))
	f.Add([]byte("\xff\xfe{\x00"), uint8(0))
	f.Fuzz(func(t *testing.T, raw []byte, format uint8) {
		var m bundle.Manifest
		switch format % 4 {
		case 0:
			m = manifestFor(t, string(raw), "jsonl")
		case 1:
			m = manifestFor(t, string(raw), "json")
		case 2:
			m = manifestFor(t, string(raw), "json", `"format": "json"`, `"format": "json", "rows": "rows"`)
		case 3:
			m = manifestFor(t, string(raw), "csv")
		}
		tasks, wrong := load(t.Context(), m, string(raw))
		if len(tasks) == 0 && len(wrong) == 0 {
			t.Error("nothing came out, and nothing was wrong")
		}
		for _, x := range tasks {
			if x.ID == "" || len(x.Target) != 1 || strings.TrimSpace(x.Target[0]) == "" || len(x.Input) != 1 {
				t.Errorf("bad task %+v", x)
			}
		}
	})
}
