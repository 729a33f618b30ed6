package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// moments is an answer whose deadlines are noted.
type moments struct {
	*httptest.ResponseRecorder
	reading, writing []time.Time
}

func (m *moments) SetReadDeadline(at time.Time) error { m.reading = append(m.reading, at); return nil }

func (m *moments) SetWriteDeadline(at time.Time) error { m.writing = append(m.writing, at); return nil }

// TestBodies_Deadlines notes how long a body may take. The router's own five
// seconds would cut off whoever sends over a slow line: a JSON body has what
// the server gives it, and a file a new limit for each of its pieces.
func TestBodies_Deadlines(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	csv := "question,answer\nq,a\n"
	source := h.announced("f.csv", "csv", csv).ID
	for _, tt := range []struct {
		name, method, path, kind, body string
		moved                          int // at least so often the limit of reading moves on
	}{
		{"JSON", "POST", "/v1/quotes", "application/json", `{"selection": {"profile_ids": ["arithmetic@1"]}}`, 0},
		{"a file", "PUT", "/v1/benchmark-sources/" + source + "/content", "application/octet-stream", csv, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, io.MultiReader(strings.NewReader(tt.body[:5]), strings.NewReader(tt.body[5:])))
			r.ContentLength = int64(len(tt.body))
			r.Header.Set("Authorization", "Bearer "+owner)
			r.Header.Set("Content-Type", tt.kind)
			w := &moments{ResponseRecorder: httptest.NewRecorder()}
			began := time.Now()
			h.api.ServeHTTP(w, r)
			if w.Code == http.StatusRequestTimeout || w.Code >= 500 {
				t.Fatalf("it answers %d: %s", w.Code, w.Body)
			}
			moved := 0
			for _, at := range w.reading {
				switch {
				case at.IsZero():
				case at.Before(began.Add(29 * time.Second)):
					t.Errorf("the body has %s", at.Sub(began))
				default:
					moved++
				}
			}
			if moved < tt.moved || tt.moved > 0 && len(w.writing) < tt.moved {
				t.Errorf("the limit of reading moved on %d times, that of writing %d times", moved, len(w.writing))
			}
		})
	}
}
