package pycompat_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

func TestClass(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("grade task 7: %w", pycompat.Raise("ValueError", "bad %s", "number"))
	if got := pycompat.Class(err); got != "ValueError" {
		t.Errorf("class %q", got)
	}
	if got, want := err.Error(), "grade task 7: ValueError: bad number"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := pycompat.Class(errors.New("another")); got != "" {
		t.Errorf("class of another error: %q", got)
	}
	if got := pycompat.Class(nil); got != "" {
		t.Errorf("class of no error: %q", got)
	}
}
