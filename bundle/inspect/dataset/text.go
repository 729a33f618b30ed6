package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decode turns the bytes of a file into text with \n line ends, as a file
// opened for text in Python has them.
func decode(data []byte) (string, error) {
	text, err := unicodeText(data)
	if err != nil {
		return "", err
	}
	if strings.IndexByte(text, '\r') < 0 {
		return text, nil
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), nil
}

func unicodeText(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fromUTF16(data[2:], binary.BigEndian)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return string(data), nil
	}
	line, rest := 1, data
	for {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			return "", fmt.Errorf("decode line %d: the byte %#02x is not UTF-8; convert the file to UTF-8 first", line, rest[0])
		}
		if r == '\n' {
			line++
		}
		rest = rest[n:]
	}
}

func fromUTF16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errors.New("decode UTF-16: the file ends in the middle of a character")
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units)), nil
}
