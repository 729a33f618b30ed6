package comparison

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// quick reads a line that is laid out as the service writes it, without what a
// general reader of JSON costs: a comparison reads a line for every task of
// every run. It answers false for any other line, whatever it holds.
func quick(line []byte) (row scored, ok bool) {
	id, rest, ok := between(line, `{"task_id":"`, `","attempt":`)
	if !ok || !simple(id) {
		return row, false
	}
	attempt, rest, ok := bytes.Cut(rest, []byte(`,"score":`))
	if !ok || !json.Valid(attempt) || !digit(attempt[0]) {
		return row, false
	}
	score, rest, ok := bytes.Cut(rest, []byte(`,"outcome":"`))
	if !ok || len(score) == 0 {
		return row, false
	}
	outcome, rest, ok := bytes.Cut(rest, []byte(`","cluster":"`))
	if !ok || !simple(outcome) {
		return row, false
	}
	cluster, ok := bytes.CutSuffix(rest, []byte(`"}`))
	if !ok || !simple(cluster) {
		return row, false
	}
	if string(score) != "null" {
		if score[0] != '-' && !digit(score[0]) || !json.Valid(score) {
			return row, false
		}
		v, err := strconv.ParseFloat(string(score), 64)
		if err != nil {
			return row, false
		}
		row.Score = &v
	}
	row.TaskID, row.Cluster = string(id), string(cluster)
	return row, true
}

func between(line []byte, before, after string) (in, rest []byte, ok bool) {
	in, ok = bytes.CutPrefix(line, []byte(before))
	if !ok {
		return nil, nil, false
	}
	return bytes.Cut(in, []byte(after))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// simple says that a text stands in JSON as it is.
func simple(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(b)
}
