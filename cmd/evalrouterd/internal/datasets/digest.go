// Package datasets turns what agents did into benchmarks: items that were
// looked at, and versions that never change.
//
// Decisions:
//
//   - A digest is of content, not of rows: the same items sealed in another
//     database, or in another order, are the same version.
//   - A review is of a digest. Whoever edits an item voids what was said of it.
//   - A version holds approved items only. It is never changed or deleted; one
//     that was a mistake is retracted, with a reason, and stays readable.
//   - What an item takes from a trace is copied into it: the trace may expire.
package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Canonical is a value as its digest sees it: members sorted by name, no
// spaces, numbers as they were written.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ItemDigest is the SHA-256, in hex, of an item's content, which is canonical.
func ItemDigest(c core.ItemContent) string {
	h := sha256.New()
	h.Write([]byte("evalrouter.dataset_item.v1\n"))
	for _, part := range []json.RawMessage{c.Input, c.Expected, c.Metadata} {
		fmt.Fprintf(h, "%d\n", len(part)) // a hash takes everything
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// VersionDigest is the SHA-256, in hex, of the items with these digests, in any
// order.
func VersionDigest(items []string) string {
	sorted := slices.Sorted(slices.Values(items))
	sum := sha256.Sum256([]byte("evalrouter.dataset_version.v1\n" + strings.Join(sorted, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}
