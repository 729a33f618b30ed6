package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// JSON reads a batch as application/json has it.
func JSON(body []byte) (Batch, error) {
	// Each object costs memory even when it is empty.
	if bytes.Count(body, []byte("{")) > 2*maxNodes {
		return Batch{}, ErrTooMany
	}
	var in struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes []jsonPair `json:"attributes"`
			} `json:"resource"`
			ScopeSpans []struct {
				Scope struct {
					Name string `json:"name"`
				} `json:"scope"`
				Spans []jsonSpan `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Batch{}, ErrMalformed
	}
	var b Batch
	n := 0
	for _, r := range in.ResourceSpans {
		shared := pairs(r.Resource.Attributes, 0)
		for _, sc := range r.ScopeSpans {
			if n += len(sc.Spans); n > MaxSpans {
				return Batch{}, ErrTooMany
			}
			for _, s := range sc.Spans {
				s.put(&b, shared, sc.Scope.Name)
			}
		}
	}
	return b, nil
}

type jsonSpan struct {
	TraceID      string     `json:"traceId"`
	SpanID       string     `json:"spanId"`
	ParentSpanID string     `json:"parentSpanId"`
	Name         string     `json:"name"`
	Start        jsonNumber `json:"startTimeUnixNano"`
	End          jsonNumber `json:"endTimeUnixNano"`
	Attributes   []jsonPair `json:"attributes"`
	Events       []struct {
		At         jsonNumber `json:"timeUnixNano"`
		Name       string     `json:"name"`
		Attributes []jsonPair `json:"attributes"`
	} `json:"events"`
	Status struct {
		Code    jsonNumber `json:"code"`
		Message string     `json:"message"`
	} `json:"status"`
}

func (j jsonSpan) put(b *Batch, shared Attributes, scope string) {
	s := Span{
		Name: j.Name, Start: j.Start.nanos(), End: j.End.nanos(), Message: j.Status.Message, Attributes: pairs(j.Attributes, 0), Resource: shared, Scope: scope,
	}
	switch j.Status.Code {
	case "1", "STATUS_CODE_OK":
		s.Code = StatusOK
	case "2", "STATUS_CODE_ERROR":
		s.Code = StatusError
	}
	for _, e := range j.Events[:min(len(j.Events), maxEvents)] {
		s.Events = append(s.Events, Event{At: e.At.nanos(), Name: e.Name, Attributes: pairs(e.Attributes, 0)})
	}
	trace, bad1 := hex.DecodeString(j.TraceID)
	span, bad2 := hex.DecodeString(j.SpanID)
	parent, bad3 := hex.DecodeString(j.ParentSpanID)
	if bad1 != nil || bad2 != nil || bad3 != nil {
		b.reject("an id is not hexadecimal")
		return
	}
	b.take(s, trace, span, parent)
}

// jsonNumber is a number or a text that holds one.
type jsonNumber string

// UnmarshalJSON takes either.
func (n *jsonNumber) UnmarshalJSON(b []byte) error {
	*n = jsonNumber(strings.Trim(string(b), `"`))
	return nil
}

func (n jsonNumber) nanos() int64 {
	v, err := strconv.ParseUint(string(n), 10, 64)
	if err != nil {
		return nanos(uint64(max(0, n.integer())))
	}
	return nanos(v)
}

// integer reads 1.0 and 1e3 as well; what is no integer is 0.
func (n jsonNumber) integer() int64 {
	if v, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return v
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.Abs(f) >= 1<<63 || math.IsNaN(f) {
		return 0
	}
	return int64(f)
}

func (n jsonNumber) float() float64 {
	switch n {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

type jsonPair struct {
	Key   string    `json:"key"`
	Value jsonValue `json:"value"`
}

type jsonValue struct {
	String *string     `json:"stringValue"`
	Bool   *bool       `json:"boolValue"`
	Int    *jsonNumber `json:"intValue"`
	Double *jsonNumber `json:"doubleValue"`
	List   *struct {
		Values []jsonValue `json:"values"`
	} `json:"arrayValue"`
	Map *struct {
		Values []jsonPair `json:"values"`
	} `json:"kvlistValue"`
	Bytes *string `json:"bytesValue"`
}

func (v jsonValue) value(depth int) any {
	switch {
	case depth > maxDepth:
		return tooDeep
	case v.String != nil:
		return *v.String
	case v.Bool != nil:
		return *v.Bool
	case v.Int != nil:
		return v.Int.integer()
	case v.Double != nil:
		return v.Double.float()
	case v.List != nil:
		out := make([]any, len(v.List.Values))
		for i, e := range v.List.Values {
			out[i] = e.value(depth + 1)
		}
		return out
	case v.Map != nil:
		return pairs(v.Map.Values, depth+1)
	case v.Bytes != nil:
		raw, err := base64.StdEncoding.DecodeString(*v.Bytes)
		if err != nil {
			return *v.Bytes
		}
		return raw
	}
	return nil
}

func pairs(in []jsonPair, depth int) Attributes {
	out := make(Attributes, min(len(in), maxAttributes))
	for _, p := range in {
		if _, there := out[p.Key]; there || len(out) < maxAttributes {
			out[p.Key] = p.Value.value(depth)
		}
	}
	return out
}
