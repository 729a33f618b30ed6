package approval_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/approval"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
)

const quoteID = "5d0c2f18-9a41-4c0e-8f2b-6c1a7be1d4f9"

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func open() api.QuoteRecord {
	return api.QuoteRecord{ID: quoteID, Status: "open", MaxChargeMicrousd: new(usd.Dollar), ExpiresAt: noon().Add(time.Hour)}
}

func book(dir string, now time.Time) *approval.Book {
	return &approval.Book{Dir: dir, BaseURL: "https://eval.example", WorkspaceID: "w1", Disk: flow.OS{}, Now: func() time.Time { return now }}
}

func TestApprove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := book(dir, noon())
	if err := b.Check(open()); !errors.Is(err, api.ApprovalRequired) {
		t.Fatalf("before: %v", err)
	}
	for range 2 { // approving again is no second approval
		if _, err := b.Approve(open()); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Check(open()); err != nil {
		t.Errorf("approved: %v", err)
	}
	path := filepath.Join(dir, "approvals", quoteID+".json")
	for _, p := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	if there, err := b.Revoke(quoteID); !there || err != nil {
		t.Errorf("taken back: %v, %v", there, err)
	}
	if there, err := b.Revoke(quoteID); there || err != nil {
		t.Errorf("taken back twice: %v, %v", there, err)
	}
	if err := b.Check(open()); !errors.Is(err, api.ApprovalRequired) {
		t.Errorf("after: %v", err)
	}
}

// An approval is for one quote, cap, service and workspace, and for its time.
func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		quote  func(*api.QuoteRecord)
		book   func(*approval.Book)
		damage func(text string) string
	}{
		{name: "another quote", quote: func(q *api.QuoteRecord) { q.ID = "00000000-9a41-4c0e-8f2b-6c1a7be1d4f9" }},
		{name: "a path", quote: func(q *api.QuoteRecord) { q.ID = "../approvals/" + quoteID }},
		{name: "a higher cap", quote: func(q *api.QuoteRecord) { q.MaxChargeMicrousd = new(2 * usd.Dollar) }},
		{name: "a lower cap", quote: func(q *api.QuoteRecord) { q.MaxChargeMicrousd = new(usd.Micro(1)) }},
		{name: "no cap", quote: func(q *api.QuoteRecord) { q.MaxChargeMicrousd = nil }},
		{name: "another service", book: func(b *approval.Book) { b.BaseURL = "https://other.example" }},
		{name: "another workspace", book: func(b *approval.Book) { b.WorkspaceID = "w2" }},
		{name: "too late", book: func(b *approval.Book) { b.Now = func() time.Time { return noon().Add(time.Hour) } }},
		{name: "a file of another quote", damage: func(s string) string { return strings.Replace(s, "5d0c", "0000", 1) }},
		{name: "a file of another form", damage: func(s string) string { return strings.Replace(s, approval.Schema, "x", 1) }},
		{name: "half a file", damage: func(s string) string { return s[:len(s)/2] }},
		{name: "a link", damage: func(string) string { return "" }},
		{name: "a huge file", damage: func(s string) string { return s + strings.Repeat(" ", 1<<20) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b, q := book(dir, noon()), open()
			if _, err := b.Approve(q); err != nil {
				t.Fatal(err)
			}
			if tt.quote != nil {
				tt.quote(&q)
			}
			if tt.book != nil {
				tt.book(b)
			}
			if tt.damage != nil {
				path := filepath.Join(dir, "approvals", quoteID+".json")
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(tt.damage(string(text))), 0o600); err != nil {
					t.Fatal(err)
				}
				if tt.name == "a link" { // to a good approval elsewhere
					other := filepath.Join(dir, "other.json")
					err := errors.Join(os.WriteFile(other, text, 0o600), os.Remove(path), os.Symlink(other, path))
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := b.Check(q); !errors.Is(err, api.ApprovalRequired) {
				t.Errorf("checked: %v", err)
			}
		})
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		quote func(*api.QuoteRecord)
		want  api.Code
	}{
		{"a preview", func(q *api.QuoteRecord) { q.Preview = true }, api.BudgetRequired},
		{"no cap", func(q *api.QuoteRecord) { q.MaxChargeMicrousd = nil }, api.BudgetRequired},
		{"expired", func(q *api.QuoteRecord) { q.ExpiresAt = noon() }, api.QuoteExpired},
		{"expired by its status", func(q *api.QuoteRecord) { q.Status = "expired" }, api.QuoteExpired},
		{"accepted", func(q *api.QuoteRecord) { q.Status = "accepted" }, api.QuoteAlreadyAccepted},
		{"superseded", func(q *api.QuoteRecord) { q.Status = "superseded" }, api.QuoteAlreadyAccepted},
		{"a continuation", func(q *api.QuoteRecord) { q.Continuation = &api.ContinuationPlan{} }, api.UnsupportedFeature},
		{"no id", func(q *api.QuoteRecord) { q.ID = "../x" }, api.InvalidResponse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, q := book(t.TempDir(), noon()), open()
			tt.quote(&q)
			if _, err := b.Approve(q); !errors.Is(err, tt.want) {
				t.Errorf("approved: %v, want %s", err, tt.want)
			}
			if err := b.Check(q); !errors.Is(err, api.ApprovalRequired) {
				t.Errorf("counts as approved: %v", err)
			}
		})
	}
}
