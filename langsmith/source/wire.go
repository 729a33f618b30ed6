package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/lib/api"
)

// wireRun is a run as either version writes it.
type wireRun struct {
	ID           string          `json:"id"`
	ParentRunID  string          `json:"parent_run_id"`
	ParentRunIDs []string        `json:"parent_run_ids"`
	DottedOrder  string          `json:"dotted_order"`
	Name         string          `json:"name"`
	RunType      string          `json:"run_type"`
	Status       string          `json:"status"`
	Error        string          `json:"error"`
	StartTime    string          `json:"start_time"`
	EndTime      string          `json:"end_time"`
	FirstToken   string          `json:"first_token_time"`
	Inputs       json.RawMessage `json:"inputs"`
	Outputs      json.RawMessage `json:"outputs"`
	Metadata     json.RawMessage `json:"metadata"`
	Extra        struct {
		Metadata json.RawMessage `json:"metadata"`
	} `json:"extra"`
	Tags             []string        `json:"tags"`
	PromptTokens     *int64          `json:"prompt_tokens"`
	CompletionTokens *int64          `json:"completion_tokens"`
	TotalTokens      *int64          `json:"total_tokens"`
	TotalCost        json.RawMessage `json:"total_cost"`
}

func (r wireRun) header() (h langsmith.Header, err error) {
	h = langsmith.Header{ID: r.ID, Status: statusOf(r.Status), Tokens: -1}
	if r.ID == "" || r.StartTime == "" {
		return h, errors.New("a run without id or start time")
	}
	if r.TotalTokens != nil {
		h.Tokens = *r.TotalTokens
	}
	if h.Start, err = parseTime(r.StartTime); err != nil {
		return h, err
	}
	h.End, err = parseTime(r.EndTime)
	return h, err
}

func (r wireRun) run() (langsmith.Run, error) {
	h, err := r.header()
	if err != nil {
		return langsmith.Run{}, err
	}
	out := langsmith.Run{
		ID: r.ID, ParentID: r.ParentRunID, Order: r.DottedOrder, Type: r.RunType, Name: r.Name, Status: h.Status, Error: r.Error,
		Start: h.Start, End: h.End, Inputs: r.Inputs, Outputs: r.Outputs, Metadata: r.Metadata, Tags: r.Tags,
		InputTokens: r.PromptTokens, OutputTokens: r.CompletionTokens, Cost: strings.Trim(string(r.TotalCost), `"`),
	}
	if n := len(r.ParentRunIDs); out.ParentID == "" && n > 0 {
		out.ParentID = r.ParentRunIDs[n-1]
	}
	if len(out.Metadata) == 0 {
		out.Metadata = r.Extra.Metadata
	}
	if out.Cost == "null" {
		out.Cost = ""
	}
	out.FirstToken, err = parseTime(r.FirstToken)
	return out, err
}

// statusOf reads the words of both versions. An unknown one is not taken for
// an end.
func statusOf(s string) string {
	switch strings.ToLower(s) {
	case "success":
		return api.TraceOK
	case "error":
		return api.TraceError
	}
	return api.TraceOpen
}

// next is a cursor: a text, null, or the object of version 1.
type next string

func (n *next) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	var s string
	var cursors struct {
		Next string `json:"next"`
	}
	switch {
	case len(b) > 0 && b[0] == '"':
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	case len(b) > 0 && b[0] == '{':
		if json.Unmarshal(b, &cursors) == nil { // another shape is no cursor
			s = cursors.Next
		}
	}
	*n = next(s)
	return nil
}

// stream reads an object whose member list is an array, one element at a time,
// to its end: a cut answer is an error. The other members are kept.
func stream[T any](r io.Reader, list string, visit func(T) error) (map[string]next, error) {
	dec := json.NewDecoder(r)
	if err := expect(dec, json.Delim('{')); err != nil {
		return nil, err
	}
	rest := map[string]next{}
	found := false
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if name == list {
			found = true
			if err := array(dec, visit); err != nil {
				return nil, err
			}
			continue
		}
		var n next
		if err := dec.Decode(&n); err != nil {
			return nil, err
		}
		rest[name.(string)] = n
	}
	if !found {
		return nil, fmt.Errorf("the answer has no member %s", list)
	}
	return rest, expect(dec, json.Delim('}'))
}

// elements reads a bare array.
func elements[T any](r io.Reader, visit func(T) error) error {
	return array(json.NewDecoder(r), visit)
}

func array[T any](dec *json.Decoder, visit func(T) error) error {
	open, err := dec.Token()
	if err != nil || open == nil { // null is an empty list
		return err
	}
	if open != json.Delim('[') {
		return errors.New("not a list")
	}
	for dec.More() {
		var v T
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if err := visit(v); err != nil {
			return err
		}
	}
	return expect(dec, json.Delim(']'))
}

func expect(dec *json.Decoder, want json.Delim) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("not the expected %s", want)
	}
	return nil
}

var _ langsmith.Source = (*Client)(nil)
