package pycompat

import (
	"errors"
	"fmt"
)

// Error stands where the reference raises. Class is the name of the Python
// exception, such as ValueError; Text is for people and does not promise
// Python's wording.
type Error struct {
	Class string
	Text  string
}

func (e *Error) Error() string { return e.Class + ": " + e.Text }

// Raise returns an *Error with a formatted text.
func Raise(class, format string, args ...any) error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// Class returns the exception class in err's chain, "" if there is none.
func Class(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
