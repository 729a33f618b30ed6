package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/itchyny/gojq"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Value prints the result of a command: the wire record as JSON, or what human
// writes for people. This is the only place where the two part.
func (a *App) Value(v any, human func(*term.Page)) error {
	if a.WantsJSON() {
		return a.document(v)
	}
	p := a.Term.OutPage()
	human(p)
	return p.Failure()
}

// document prints v as one JSON document, through --jq if given.
func (a *App) document(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if a.Term.OutTTY {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if a.Global.JQ != "" {
		return a.filter(buf.Bytes())
	}
	_, err := a.Term.Out.Write(plain.JSON(buf.Bytes()))
	return err
}

// JSONLine prints one record of a stream.
func (a *App) JSONLine(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if a.Global.JQ != "" {
		return a.filter(b)
	}
	_, err = a.Term.Out.Write(append(plain.JSON(b), '\n'))
	return err
}

// jqSteps bounds an expression's results, so that "repeat" ends.
const jqSteps = 1_000_000

// checkJQ compiles the expression before anything is asked of a service.
func (a *App) checkJQ() (*gojq.Code, error) {
	q, err := gojq.Parse(a.Global.JQ)
	if err == nil {
		var code *gojq.Code
		if code, err = gojq.Compile(q, gojq.WithEnvironLoader(func() []string { return nil })); err == nil {
			return code, nil
		}
	}
	return nil, &flow.Error{Code: api.InvalidInput, Message: "--jq: " + err.Error(), Err: err}
}

// filter prints every result of the jq expression on a line, strings raw.
func (a *App) filter(doc []byte) error {
	code, err := a.checkJQ()
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	iter := code.Run(v)
	for range jqSteps {
		got, ok := iter.Next()
		if !ok {
			return nil
		}
		if err, bad := got.(error); bad {
			return &flow.Error{Code: api.InvalidInput, Message: "--jq: " + err.Error(), Err: err}
		}
		if err := a.jqResult(got); err != nil {
			return err
		}
	}
	return &flow.Error{Code: api.InvalidInput, Message: "--jq: the expression has more than a million results"}
}

func (a *App) jqResult(v any) error {
	if s, ok := v.(string); ok {
		_, err := io.WriteString(a.Term.Out, string(plain.Block(s))+"\n")
		return err
	}
	b, err := gojq.Marshal(v)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	_, err = a.Term.Out.Write(append(plain.JSON(b), '\n'))
	return err
}
