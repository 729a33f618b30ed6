package daemon_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/archive"
	"github.com/evalrouter/evalrouter/bundle/archive/archivetest"
)

// mostForPackages bounds the service while it looks at packages; it takes about
// sixty megabytes when it does nothing.
const mostForPackages = 200 << 20

// large is a zip file of so many bytes that no package is.
func large(t *testing.T, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "evalrouter.json", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, rand.NewChaCha8([32]byte{1}), int64(size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostilePackages_Memory uploads every hostile zip file of the corpus, and a
// large one, to a real service. Each is refused by its rule, and the memory of
// the process stays bounded.
func TestHostilePackages_Memory(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	type source struct {
		ID     string
		Status string
		Code   *string `json:"error_code"`
	}
	upload := func(name string, data []byte) source {
		t.Helper()
		sum := sha256.Sum256(data)
		var s source
		if status := l.call(t, "POST", "/v1/benchmark-sources", map[string]any{"file_name": "p.zip", "format": "package", "bytes": len(data), "sha256": hex.EncodeToString(sum[:])}, &s); status != 200 {
			t.Fatalf("%s: announcing it is answered with %d", name, status)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, l.base+"/v1/benchmark-sources/"+s.ID+"/content", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+l.token(t))
		req.Header.Set("Content-Type", "application/octet-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&s); err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: the upload is answered with %s (%v)", name, res.Status, err)
		}
		return s
	}
	looked := 0
	for i, h := range archivetest.All() {
		if detected() && i%10 != 0 {
			continue
		}
		data := h.Build()
		if len(data) == 0 || len(data) > archive.MaxBytes {
			continue // cannot be announced
		}
		s := upload(h.Name, data)
		if s.Status != "failed" || s.Code == nil || *s.Code != h.Rule && !h.Late {
			t.Errorf("%s is %s (%v), want %s", h.Name, s.Status, s.Code, h.Rule)
		}
		looked++
	}
	if looked < 50 && !detected() {
		t.Errorf("the corpus has %d files", looked)
	}
	if detected() { // as large as that is the detector, not the service
		return
	}
	if s := upload("large", large(t, 48<<20)); s.Status != "failed" {
		t.Errorf("48 MiB of noise is %s", s.Status)
	}
	if most := peakMemory(t, l.cmd.Process.Pid); most > mostForPackages {
		t.Errorf("the service took %d MiB", most>>20)
	} else {
		t.Logf("%d hostile files: the service took %d MiB at most", looked, most>>20)
	}
}
