package sample

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Append appends a record as one line of JSON, in the bytes that JSON gives of it
// and without what reflection costs: a file has one a task.
func Append(b []byte, s api.ExportSample) ([]byte, error) {
	b = text(append(b, `{"profile_id":`...), s.ProfileID)
	b = text(append(b, `,"task_id":`...), s.TaskID)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(s.Attempt), 10)
	b = text(append(b, `,"status":`...), s.Status)
	b = text(append(b, `,"outcome":`...), s.Outcome)
	b = some(append(b, `,"error_code":`...), s.ErrorCode)
	b = append(b, `,"scores":`...)
	if v, ok := s.Scores[Headline]; ok && len(s.Scores) == 1 && (v == 1 || v == 0 && strconv.FormatFloat(v, 'g', -1, 64) == "0") {
		b = append(b, `{"`+Headline+`":`...)
		b = append(strconv.AppendInt(b, int64(v), 10), '}')
	} else {
		scores, err := JSON(s.Scores)
		if err != nil {
			return nil, err
		}
		b = append(b, scores...)
	}
	b = some(append(b, `,"answer":`...), s.Answer)
	b = some(append(b, `,"answer_withheld":`...), s.AnswerWithheld)
	b = some(append(b, `,"answer_sha256":`...), s.AnswerSHA256)
	b = append(b, `,"usage":`...)
	if s.Usage == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(append(b, `{"input_tokens":`...), s.Usage.InputTokens, 10)
		b = append(strconv.AppendInt(append(b, `,"output_tokens":`...), s.Usage.OutputTokens, 10), '}')
	}
	b = text(append(b, `,"charge_microusd":`...), s.ChargeMicrousd.Wire())
	b = some(append(b, `,"finish_reason":`...), s.FinishReason)
	b = text(append(b, `,"grader":{"id":`...), s.Grader.ID)
	b = text(append(b, `,"version":`...), s.Grader.Version)
	b = append(text(append(b, `,"sha256":`...), s.Grader.SHA256), '}')
	b = text(append(b, `,"origin_run_id":`...), s.OriginRunID)
	b = strconv.AppendBool(append(b, `,"reused":`...), s.Reused)
	if len(s.Judges) > 0 {
		judges, err := JSON(s.Judges)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"judges":`...), judges...)
	}
	return append(b, '}'), nil
}

func some(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return text(b, *s)
}

// text appends a string. What is not a letter, a mark or a usual escape of ASCII
// is left to JSON, which never fails at a string.
func text(b []byte, s string) []byte {
	begin, last := len(b), 0
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[last:i]...)
		last = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			other, _ := JSON(s)
			return append(b[:begin], other...)
		}
	}
	return append(append(b, s[last:]...), '"')
}

// JSON is a value without the escapes that only HTML needs, and with those
// that a terminal needs: characters that move a cursor, hide or reorder text
// stand as \u escapes. What the text says is unchanged.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return plain.JSON(bytes.TrimRight(buf.Bytes(), "\n")), nil
}
