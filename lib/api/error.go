package api

import "fmt"

// Envelope is the body of every answer that is not a success.
type Envelope struct {
	Error Error `json:"error"`
}

// Error is a failure in words and as a code. Details carries paths, codes and
// figures, never a value that a caller sent.
type Error struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Details   map[string]any `json:"details,omitempty"`
	RequestID string         `json:"request_id,omitempty"`
}

// Error is the message with its code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }

// Is makes errors.Is(err, api.NotFound) work.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// FieldError is one entry of Details["fields"]: where a request is wrong and
// how, without the value.
type FieldError struct {
	Path string `json:"path"`
	Code string `json:"code"`
}
