package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

const (
	maxFile    = 1 << 20
	maxNesting = 100
	maxInclude = 10
)

// Load reads a task file with the files it includes. functions are the ported
// functions that it may name, by path of the folder in fsys, module and
// function, such as drop/utils.process_results.
func Load(fsys fs.FS, file string, functions map[string]*Function) (*Config, error) {
	d, err := Parse(fsys, file, functions)
	if err != nil {
		return nil, err
	}
	return Read(d)
}

// Parse reads a task or group file into a mapping, with the files it includes
// below it: a key of the file hides the same key of an included one, and a file
// that is listed earlier hides those listed later.
//
// Plain scalars mean what PyYAML takes them for, which is YAML 1.1: yes and off
// are booleans, 1e3 is text. What YAML versions read differently in other ways
// is refused: octal, hexadecimal and sexagesimal numbers, dates, merge keys,
// anchors, equal keys, other tags.
func Parse(fsys fs.FS, file string, functions map[string]*Function) (*value.Dict, error) {
	l := loader{fsys, functions}
	return l.load(path.Clean(file), nil)
}

type loader struct {
	fsys      fs.FS
	functions map[string]*Function
}

func (l loader) load(file string, above []string) (*value.Dict, error) {
	if slices.Contains(above, file) || len(above) > maxInclude {
		return nil, fmt.Errorf("read %s: it includes itself or too many files", file)
	}
	own, err := l.read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	r := &reader{d: own, used: map[string]bool{}}
	includes := r.texts("include")
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	own.Delete("include")
	out := value.DictOf()
	for _, name := range slices.Backward(includes) {
		d, err := l.load(path.Join(path.Dir(file), name), append(above, file))
		if err != nil {
			return nil, err
		}
		if err := update(out, d); err != nil {
			return nil, err
		}
	}
	return out, update(out, own)
}

func update(to, from *value.Dict) error {
	for k, v := range from.All() {
		if err := to.Set(k, v); err != nil {
			return err
		}
	}
	return nil
}

// read reads one file.
func (l loader) read(file string) (*value.Dict, error) {
	f, err := l.fsys.Open(file)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file holds more than one document")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, errors.New("the file holds no document")
	}
	n := node{functions: l.functions, folder: path.Dir(file)}
	v, err := n.value(doc.Content[0], 0)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, errors.New("the file is no mapping")
	}
	return d, nil
}

// node turns YAML nodes into values.
type node struct {
	functions map[string]*Function
	folder    string
}

func (n node) value(y *yaml.Node, depth int) (any, error) {
	fail := func(format string, args ...any) (any, error) {
		return nil, fmt.Errorf("line %d: %s", y.Line, fmt.Sprintf(format, args...))
	}
	tagged := y.Style&yaml.TaggedStyle != 0
	switch {
	case depth > maxNesting:
		return fail("the file is nested too deeply")
	case y.Anchor != "" || y.Kind == yaml.AliasNode:
		return fail("anchors are not supported")
	case tagged && y.Tag == "!function" && y.Kind == yaml.ScalarNode:
		name := path.Join(n.folder, y.Value)
		if f, ok := n.functions[name]; ok {
			return f, nil
		}
		return nil, fmt.Errorf("line %d: %w: %s is Python code that is not ported", y.Line, ErrFunction, name)
	case tagged:
		return fail("the tag %s is not supported", y.Tag)
	}
	switch y.Kind {
	case yaml.ScalarNode:
		if y.Style != 0 {
			return y.Value, nil
		}
		v, err := scalar(y.Value)
		if err != nil {
			return fail("%v", err)
		}
		return v, nil
	case yaml.SequenceNode:
		out := make([]any, len(y.Content))
		for i, item := range y.Content {
			var err error
			if out[i], err = n.value(item, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.MappingNode:
		return n.mapping(y, depth)
	}
	return fail("unexpected content")
}

func (n node) mapping(y *yaml.Node, depth int) (any, error) {
	out := value.DictOf()
	for i := 0; i+1 < len(y.Content); i += 2 {
		at := y.Content[i]
		if at.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key is no scalar", at.Line)
		}
		k, err := n.value(at, depth+1)
		if err != nil {
			return nil, err
		}
		if _, function := k.(*Function); function {
			return nil, fmt.Errorf("line %d: a key is a function", at.Line)
		}
		if _, twice := out.Get(k); twice {
			return nil, fmt.Errorf("line %d: the key %s is there twice", at.Line, value.Str(k))
		}
		v, err := n.value(y.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if err := out.Set(k, v); err != nil {
			return nil, fmt.Errorf("line %d: %w", at.Line, err)
		}
	}
	return out, nil
}

// scalar reads a plain scalar as PyYAML resolves it.
func scalar(s string) (any, error) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON":
		return true, nil
	case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF":
		return false, nil
	case "<<", "=":
		return nil, fmt.Errorf("the key %s is not supported", s)
	}
	match := func(pattern string) bool { return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(s) }
	switch {
	case match(`[-+]?(?:0|[1-9][0-9]*)`):
		n, err := number.ParseInt(s)
		if err != nil {
			return nil, err // more digits than Python reads
		}
		return value.Int(n), nil
	case match(`[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?)|\.[0-9]+(?:[eE][-+][0-9]+)?`):
		return number.ParseFloat(s)
	case match(`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?`),
		match(`[-+]?0(?:b[01_]+|x[0-9a-fA-F_]+|[0-7_]+)`), match(`[-+]?[0-9][0-9_]*(?:\.[0-9_]*(?:[eE][-+][0-9]+)?)?`), match(`\.[0-9_]+(?:[eE][-+][0-9]+)?`),
		match(`[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)`), match(`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*`):
		return nil, fmt.Errorf("%s is written in a way that readers of YAML take differently; quote it", s)
	}
	return s, nil
}
