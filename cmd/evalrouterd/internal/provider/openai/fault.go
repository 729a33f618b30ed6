package openai

import (
	"encoding/json"
	"strings"
)

// fault is what an error body says, in whatever shape it came: under "error"
// as an object, an array or a sentence, flat at the top, or as "detail".
type fault struct {
	message string
	// words are the machine-readable ones: code, type and inner codes.
	words []string
	param string
	// moderated says that the metadata is about a flagged prompt.
	moderated bool
	// limitSource is OpenRouter's account of whose limit was met.
	limitSource string
}

func (f fault) says(word string) bool {
	for _, w := range f.words {
		if w == word {
			return true
		}
	}
	return false
}

type faultBody struct {
	Message  loose       `json:"message"`
	Type     scalar      `json:"type"`
	Code     scalar      `json:"code"`
	Param    loose       `json:"param"`
	Inner    innerFault  `json:"innererror"`
	Metadata faultDetail `json:"metadata"`
}

type innerFault struct {
	Code scalar `json:"code"`
}

type faultDetail struct {
	LimitSource loose           `json:"limit_source"`
	Reasons     json.RawMessage `json:"reasons"`
	Flagged     json.RawMessage `json:"flagged_input"`
}

// UnmarshalJSON reads an object; anything else is no detail.
func (d *faultDetail) UnmarshalJSON(b []byte) error {
	type plainDetail faultDetail
	var p plainDetail
	if json.Unmarshal(b, &p) == nil {
		*d = faultDetail(p)
	}
	return nil
}

// UnmarshalJSON reads an object; anything else is no inner error.
func (i *innerFault) UnmarshalJSON(b []byte) error {
	type plainInner innerFault
	var p plainInner
	if json.Unmarshal(b, &p) == nil {
		*i = innerFault(p)
	}
	return nil
}

// scalar reads a string or a number as text: error codes come as both.
type scalar string

// UnmarshalJSON never fails.
func (s *scalar) UnmarshalJSON(b []byte) error {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	switch v := v.(type) {
	case string:
		*s = scalar(v)
	case float64:
		*s = scalar(strings.TrimSpace(string(b)))
	}
	return nil
}

// readFault never fails: a body that says nothing gives an empty fault.
func readFault(raw []byte) fault {
	var top struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
		faultBody
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	if json.Unmarshal(raw, &top) != nil {
		return fault{}
	}
	switch {
	case present(top.Error):
		return readError(top.Error)
	case present(top.Detail):
		return fault{message: sentence(top.Detail)}
	}
	return top.faultBody.fault()
}

func readError(raw json.RawMessage) fault {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var b faultBody
	if json.Unmarshal(raw, &b) == nil {
		return b.fault()
	}
	return fault{message: sentence(raw)}
}

// sentence is a string, or the JSON itself.
func sentence(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (b faultBody) fault() fault {
	f := fault{
		message:     string(b.Message),
		param:       string(b.Param),
		moderated:   present(b.Metadata.Reasons) || present(b.Metadata.Flagged),
		limitSource: string(b.Metadata.LimitSource),
	}
	for _, w := range []scalar{b.Code, b.Type, b.Inner.Code} {
		if w != "" {
			f.words = append(f.words, string(w))
		}
	}
	return f
}
