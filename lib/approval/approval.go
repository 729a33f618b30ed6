// Package approval keeps what a person at a terminal approved for a program that
// may not decide about money: one quote, its cap and when that ends.
//
// An approval is a private file in the state directory, named after its quote.
// It holds identifiers only, and it is no secret: whoever holds the text of one
// can do nothing with it, for a program reads approvals here and takes none from
// what it is told. That is what it stops: a text that asks to spend, wherever it
// stands. It does not stop a program that can write to the state directory, or
// that can type at a terminal as this user; such a program needs another account.
package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Schema names the form of the file.
const Schema = "evalrouter.approval.v1"

// maxFile is more than any approval takes.
const maxFile = 16 << 10

// Approval is a person's yes to one quote.
type Approval struct {
	Schema      string    `json:"schema"`
	QuoteID     string    `json:"quote_id"`
	BaseURL     string    `json:"base_url"`
	WorkspaceID string    `json:"workspace_id"`
	CapMicrousd usd.Micro `json:"cap_microusd"`
	ApprovedAt  time.Time `json:"approved_at"`
	// ExpiresAt is when the quote ends, and the approval with it.
	ExpiresAt time.Time `json:"expires_at"`
}

// Key is the idempotency key of the one submission that an approval allows. It
// follows from the quote, so that however often and from wherever the quote is
// submitted, it leads to one run.
func Key(quoteID string) string { return "approved-" + quoteID }

// Book is the approvals of one user.
type Book struct {
	// Dir is the state directory; approvals are in its "approvals".
	Dir string
	// BaseURL and WorkspaceID are where quotes are submitted: an approval for
	// another service or workspace is none.
	BaseURL, WorkspaceID string
	Disk                 flow.Disk
	Now                  func() time.Time
}

// Fits says whether a quote can be approved: only one that can start a run of its
// own, under a cap.
func (b *Book) Fits(q api.QuoteRecord) error {
	switch {
	case !flow.WholeID(q.ID):
		return refuse(api.InvalidResponse, "the service named no quote id")
	case q.Preview || q.MaxChargeMicrousd == nil:
		return refuse(api.BudgetRequired, "a quote without a spending cap cannot be approved")
	case q.Continuation != nil:
		return refuse(api.UnsupportedFeature, "a quote that goes on with an ended run is answered where it was asked for: evalrouter resume")
	case q.Status == "expired" || !b.Now().Before(q.ExpiresAt):
		return refuse(api.QuoteExpired, "the quote has expired")
	case q.Status != "open":
		return refuse(api.QuoteAlreadyAccepted, "the quote is "+q.Status+" and starts nothing more")
	}
	return nil
}

// Approve writes down that a person approved a quote that fits.
func (b *Book) Approve(q api.QuoteRecord) (Approval, error) {
	a := Approval{Schema: Schema, QuoteID: q.ID, BaseURL: b.BaseURL, WorkspaceID: b.WorkspaceID, ApprovedAt: b.Now().UTC(), ExpiresAt: q.ExpiresAt}
	if err := b.Fits(q); err != nil {
		return a, err
	}
	a.CapMicrousd = *q.MaxChargeMicrousd
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return a, fmt.Errorf("write approval: %w", err)
	}
	if err := b.Disk.MakeDir(b.folder()); err != nil {
		return a, b.unwritable(err)
	}
	if err := flow.Replace(b.Disk, b.path(q.ID), append(data, '\n')); err != nil {
		return a, b.unwritable(err)
	}
	return a, nil
}

// Revoke takes an approval back; false is that there was none.
func (b *Book) Revoke(quoteID string) (bool, error) {
	if !flow.WholeID(quoteID) {
		return false, nil
	}
	if _, err := os.Lstat(b.path(quoteID)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := b.Disk.Remove(b.path(quoteID)); err != nil {
		return false, b.unwritable(err)
	}
	return true, nil
}

// Check says whether a person approved exactly this quote, at this service and in
// this workspace, under this cap, and whether that still holds.
func (b *Book) Check(q api.QuoteRecord) error {
	a, err := b.read(q.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(api.ApprovalRequired, "nobody has approved this quote")
	case err != nil:
		return refuse(api.ApprovalRequired, "the approval of this quote cannot be read: "+err.Error())
	case a.BaseURL != b.BaseURL || a.WorkspaceID != b.WorkspaceID:
		return refuse(api.ApprovalRequired, "the quote was approved for another service or workspace")
	case q.MaxChargeMicrousd == nil || *q.MaxChargeMicrousd != a.CapMicrousd:
		return refuse(api.ApprovalRequired, fmt.Sprintf("the quote was approved under a cap of %s, and has another one", a.CapMicrousd))
	case !b.Now().Before(a.ExpiresAt):
		return refuse(api.ApprovalRequired, "the approval has expired with its quote")
	}
	return nil
}

func (b *Book) read(quoteID string) (a Approval, err error) {
	if !flow.WholeID(quoteID) {
		return a, fs.ErrNotExist
	}
	info, err := os.Lstat(b.path(quoteID))
	if err != nil {
		return a, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return a, errors.New("it is not a file of an approval's size")
	}
	data, err := os.ReadFile(b.path(quoteID))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(data, &a); err != nil || a.Schema != Schema || a.QuoteID != quoteID {
		return a, errors.New("it is not an approval of this quote")
	}
	return a, nil
}

func (b *Book) folder() string { return filepath.Join(b.Dir, "approvals") }

func (b *Book) path(quoteID string) string { return filepath.Join(b.folder(), quoteID+".json") }

func refuse(code api.Code, message string) error {
	return &flow.Error{Code: code, Message: message, Facts: []string{"nothing was started or charged"}}
}

func (b *Book) unwritable(err error) error {
	return &flow.Error{
		Code: api.StateUnwritable, Message: "the approval cannot be written under " + b.folder(), Err: err,
		Facts: []string{"nothing was approved, started or charged"},
	}
}
