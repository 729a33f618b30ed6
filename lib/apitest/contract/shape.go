package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check compares a JSON text with a record of the contract, member by member
// and all the way down. It answers what is wrong, one sentence each: missing
// members, members that the contract does not know, wrong types, forbidden
// nulls, unknown words.
func (c *Contract) Check(record string, body []byte) []string {
	v, err := decodeAny(body)
	if err != nil {
		return []string{fmt.Sprintf("%s: not JSON: %v", record, err)}
	}
	return c.checkRecord(record, record, v)
}

// CheckPage is Check for a page of records.
func (c *Contract) CheckPage(record string, body []byte) []string {
	v, err := decodeAny(body)
	if err != nil {
		return []string{fmt.Sprintf("page of %s: not JSON: %v", record, err)}
	}
	page, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("page of %s: not an object", record)}
	}
	var out []string
	if next, ok := page["next_cursor"]; !ok {
		out = append(out, "page: next_cursor is missing")
	} else if _, text := next.(string); next != nil && !text {
		out = append(out, "page: next_cursor is neither a string nor null")
	}
	for name := range page {
		if name != "data" && name != "next_cursor" {
			out = append(out, "page: unknown member "+name)
		}
	}
	list := Type{List: &Type{Union: []string{record}}}
	return append(out, c.checkType("data", list, page["data"])...)
}

func decodeAny(body []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func (c *Contract) checkRecord(at, name string, v any) []string {
	obj, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: want the object %s, got %s", at, name, kindOf(v))}
	}
	var out []string
	for _, f := range c.Records[name].Fields {
		val, present := obj[f.Name]
		if !present {
			if !f.Optional {
				out = append(out, fmt.Sprintf("%s.%s is missing", at, f.Name))
			}
			continue
		}
		out = append(out, c.checkType(at+"."+f.Name, f.Type, val)...)
	}
	for _, k := range slices.Sorted(maps.Keys(obj)) {
		if _, known := c.Records[name].Field(k); !known {
			out = append(out, fmt.Sprintf("%s.%s is not in the contract", at, k))
		}
	}
	return out
}

func (c *Contract) checkType(at string, t Type, v any) []string {
	if v == nil {
		if t.Nullable || t.Scalar == "any" {
			return nil
		}
		return []string{at + " is null"}
	}
	switch {
	case len(t.Union) > 0:
		return c.checkRecord(at, pick(t.Union, v), v)
	case len(t.Enum) > 0:
		if s, ok := v.(string); !ok || !slices.Contains(t.Enum, s) {
			return []string{fmt.Sprintf("%s: %v is none of %s", at, v, strings.Join(t.Enum, ", "))}
		}
		return nil
	case t.List != nil:
		list, ok := v.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s: want a list, got %s", at, kindOf(v))}
		}
		var out []string
		for i, e := range list {
			out = append(out, c.checkType(fmt.Sprintf("%s[%d]", at, i), *t.List, e)...)
		}
		return out
	case t.Map != nil:
		obj, ok := v.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: want an object, got %s", at, kindOf(v))}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(obj)) {
			out = append(out, c.checkType(at+"."+k, *t.Map, obj[k])...)
		}
		return out
	}
	if !scalar(t.Scalar, v) {
		return []string{fmt.Sprintf("%s: want %s, got %s", at, t.Scalar, kindOf(v))}
	}
	return nil
}

// pick chooses the member of a union: a comparison says so in its kind.
func pick(union []string, v any) string {
	obj, _ := v.(map[string]any)
	if len(union) > 1 && obj["kind"] == "comparison" {
		return union[1]
	}
	return union[0]
}

func scalar(want string, v any) bool {
	switch want {
	case "any":
		return true
	case "string":
		_, ok := v.(string)
		return ok
	case "bool":
		_, ok := v.(bool)
		return ok
	case "dict":
		_, ok := v.(map[string]any)
		return ok
	case "number":
		_, ok := v.(json.Number)
		return ok
	case "int":
		n, ok := v.(json.Number)
		_, err := strconv.ParseInt(n.String(), 10, 64)
		return ok && err == nil
	case "ts":
		s, _ := v.(string)
		at, err := time.Parse(time.RFC3339Nano, s)
		_, offset := at.Zone()
		return err == nil && offset == 0
	case "signed":
		s, _ := v.(string)
		return moneyText(strings.TrimPrefix(s, "-"))
	case "money":
		s, _ := v.(string)
		return moneyText(s)
	}
	return false
}

// moneyText is 1 to 16 digits without leading zeros.
func moneyText(s string) bool {
	if s == "" || len(s) > 16 || len(s) > 1 && s[0] == '0' {
		return false
	}
	return strings.Trim(s, "0123456789") == ""
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case json.Number:
		return "the number " + v.String()
	case bool:
		return "a truth value"
	case []any:
		return "a list"
	}
	return "an object"
}
