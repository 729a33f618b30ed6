//go:build !race

package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// What the libraries export is what docs/api says.
func TestTheTreeHolds(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-root", filepath.Join("..", "..", "..")}, &out, &errs); code != 0 {
		t.Errorf("exit %d\n%s%s", code, &out, &errs)
	}
}
