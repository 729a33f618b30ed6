package body

import (
	"encoding/json"
	"slices"
	"time"
)

// Fault is what an error body says, in whatever shape it came: under "error"
// as an object, an array or a sentence, flat at the top, as "detail", or any
// of these within an array.
type Fault struct {
	Message string
	// Words are the machine-readable ones: code, type, status, and those of
	// inner errors and details.
	Words []string
	Param string
	// Fields are the fields of the request that details object to.
	Fields []string
	// Quotas are the names of quotas that were met.
	Quotas []string
	// Moderated says that the metadata is about a flagged prompt.
	Moderated bool
	// LimitSource is OpenRouter's account of whose limit was met.
	LimitSource string
	// Delay is the wait that the body asks for; HasDelay tells 0 from none.
	Delay    time.Duration
	HasDelay bool
}

// Says tells whether one of the words is this one.
func (f Fault) Says(word string) bool { return slices.Contains(f.Words, word) }

type faultBody struct {
	Message  Text            `json:"message"`
	Type     Word            `json:"type"`
	Code     Word            `json:"code"`
	Status   Word            `json:"status"`
	Param    Text            `json:"param"`
	Inner    json.RawMessage `json:"innererror"`
	Metadata json.RawMessage `json:"metadata"`
	Details  json.RawMessage `json:"details"`
}

// ReadFault never fails: a body that says nothing gives an empty fault.
func ReadFault(raw []byte) Fault {
	var top struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
		faultBody
	}
	if json.Unmarshal(firstOf(raw), &top) != nil {
		return Fault{}
	}
	switch {
	case Present(top.Error):
		return readError(top.Error)
	case Present(top.Detail):
		return Fault{Message: sentence(top.Detail)}
	}
	return top.fault()
}

// firstOf is the first element of an array, and anything else as it is.
func firstOf(raw []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return raw
}

func readError(raw json.RawMessage) Fault {
	raw = firstOf(raw)
	var b faultBody
	if json.Unmarshal(raw, &b) == nil {
		return b.fault()
	}
	return Fault{Message: sentence(raw)}
}

// sentence is a string, or the JSON itself.
func sentence(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (b faultBody) fault() Fault {
	var inner struct {
		Code Word `json:"code"`
	}
	Loosely(b.Inner, &inner)
	var meta struct {
		LimitSource Text            `json:"limit_source"`
		Reasons     json.RawMessage `json:"reasons"`
		Flagged     json.RawMessage `json:"flagged_input"`
	}
	Loosely(b.Metadata, &meta)
	f := Fault{
		Message: string(b.Message), Param: string(b.Param), LimitSource: string(meta.LimitSource),
		Moderated: Present(meta.Reasons) || Present(meta.Flagged),
	}
	f.add(b.Code, b.Type, b.Status, inner.Code)
	f.details(b.Details)
	return f
}

func (f *Fault) add(words ...Word) {
	for _, w := range words {
		if w != "" {
			f.Words = append(f.Words, string(w))
		}
	}
}

// details reads an object with a code, or a list of typed details.
func (f *Fault) details(raw json.RawMessage) {
	var one struct {
		Code Word `json:"error_code"`
	}
	Loosely(raw, &one)
	f.add(one.Code)
	var list []json.RawMessage
	Loosely(raw, &list)
	for _, item := range list {
		var d struct {
			Reason     Word                     `json:"reason"`
			Delay      Text                     `json:"retryDelay"`
			Violations []struct{ QuotaID Text } `json:"violations"`
			Fields     []struct{ Field Text }   `json:"fieldViolations"`
		}
		Loosely(item, &d)
		f.add(d.Reason)
		for _, v := range d.Violations {
			f.Quotas = append(f.Quotas, string(v.QuotaID))
		}
		for _, v := range d.Fields {
			f.Fields = append(f.Fields, string(v.Field))
		}
		if wait, ok := duration(string(d.Delay)); ok {
			f.Delay, f.HasDelay = wait, true
		}
	}
}
