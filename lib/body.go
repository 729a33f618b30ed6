package evalrouter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

var (
	errTooLarge  = errors.New("too large")
	errNotObject = errors.New("not the expected JSON object")
)

// decodeObject reads a success: one JSON object in UTF-8 whose numbers are
// all finite.
func decodeObject(b []byte, into any) error {
	t := bytes.TrimLeft(b, " \t\r\n")
	if len(t) == 0 || t[0] != '{' || !utf8.Valid(b) {
		return errNotObject
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%w: %w", errNotObject, err)
	}
	if !finite(b) {
		return fmt.Errorf("%w: a number is not finite", errNotObject)
	}
	return nil
}

// finite says that every number of a valid JSON text fits a float64, also in
// members that no field reads. Most numbers are short and need no parsing.
func finite(b []byte) bool {
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			i = afterString(b, i)
		case c == '-' || c >= '0' && c <= '9':
			j, suspect := i+1, false
			for j < len(b) && numberByte(b[j]) {
				suspect = suspect || b[j] == 'e' || b[j] == 'E'
				j++
			}
			if suspect || j-i > 300 {
				f, err := strconv.ParseFloat(string(b[i:j]), 64)
				if err != nil && math.IsInf(f, 0) {
					return false
				}
			}
			i = j
		default:
			i++
		}
	}
	return true
}

func afterString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func numberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}
