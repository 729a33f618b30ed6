//go:build !race

package datafile_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/archive"
	"github.com/evalrouter/evalrouter/bundle/archive/archivetest"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datafile"
)

// zipped is a package as a bundle, whatever is wrong with it; nil for one that
// no zip file can hold.
func zipped(t *testing.T, p packtest.Package) []byte {
	t.Helper()
	var files []archive.File
	for _, name := range slices.Sorted(maps.Keys(p)) {
		data := p[name]
		if data == nil {
			return nil
		}
		files = append(files, archive.File{Name: name, Size: int64(len(data)), CRC: crc32.ChecksumIEEE(data), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }})
	}
	var out bytes.Buffer
	if err := archive.Write(&out, files); err != nil {
		return nil
	}
	return out.Bytes()
}

// BEN-13: what the author's validator refuses the service refuses by itself,
// with the same rule, and what it passes the service passes.
func TestPackages_BEN13_ValidatedAgain(t *testing.T) {
	t.Parallel()
	look := func(data []byte) (core.WhatFound, *datafile.Fault) {
		t.Helper()
		found, err := datafile.Look(t.Context(), core.FormatPackage, bytes.NewReader(data), int64(len(data)))
		var f *datafile.Fault
		if err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
		return found, f
	}
	for _, template := range pack.Templates() {
		if found, f := look(zipped(t, packtest.Good(template))); f != nil || found.Rows == 0 {
			t.Errorf("%s: %+v, %v", template, found, f)
		}
	}
	n := 0
	for i, b := range packtest.All() {
		if i%3 != 0 { // the validator's own tests have them all
			continue
		}
		data := zipped(t, b.Files)
		if data == nil {
			continue
		}
		n++
		if _, f := look(data); f == nil || f.Code != b.Rule && !strings.HasPrefix(f.Code, "zip") {
			t.Errorf("%s: %v, want %s", b.Name, f, b.Rule)
		}
	}
	t.Logf("row c: %d broken packages are refused by the service with their rule", n)
	if n < 200 {
		t.Errorf("only %d broken packages", n)
	}
	for _, h := range archivetest.All() {
		if h.Large {
			continue
		}
		if _, f := look(h.Build()); f == nil || f.Code == "" {
			t.Errorf("a zip file that somebody made to harm (%s) is taken", h.Name)
		}
	}
}
