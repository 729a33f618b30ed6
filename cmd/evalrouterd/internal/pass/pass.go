// Package pass is what a browser without an account shows to see one run or one
// group: a link that is good for a quarter of an hour, and what the browser is
// given for it.
//
//   - Both are texts that the service signs with its master key and keeps
//     nowhere: nothing can be read out of the database, and nothing is written
//     when a page is looked at.
//   - A link is no stay and a stay is no link: the one stands in an address,
//     which is copied and remembered, the other in a cookie of one page.
//   - Both name who made the link. Whoever looks sees no more than its maker may
//     still see; that is asked each time.
package pass

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

// Lives of a link and of a stay. A run can go on for hours, and its page is to
// be watched to the end.
const (
	LinkLife core.Micros = 15 * 60 * 1_000_000
	StayLife core.Micros = 12 * 3600 * 1_000_000
)

// What a pass opens.
const (
	Run   = "run"
	Group = "group"
)

// Kinds of whoever made a link.
const (
	Owner  = "owner" // of a local service
	Person = "person"
	Key    = "key"
)

// Pass says what a browser may see.
type Pass struct {
	Kind      string           `json:"k"` // Run or Group
	ID        string           `json:"i"`
	Workspace core.WorkspaceID `json:"w"`
	// Maker and MakerID are who made the link.
	Maker   string `json:"m"`
	MakerID string `json:"b"`
	// Grant is the person's sign-in: what it let in ends with it, as it does when
	// a password is changed or a backup is restored.
	Grant string      `json:"g,omitempty"`
	Until core.Micros `json:"u"`
}

const (
	labelLink seal.Label = "page link"
	labelStay seal.Label = "page stay"
)

// Keeper signs and reads passes.
type Keeper struct {
	Master *seal.Master
	Now    func() core.Micros
}

// Link is a pass for an address, good for LinkLife.
func (k Keeper) Link(p Pass) (text string, until core.Micros) {
	p.Until = k.Now() + LinkLife
	return k.sign(labelLink, p), p.Until
}

// Stay is what a browser is given for a link.
func (k Keeper) Stay(p Pass) string {
	p.Until = k.Now() + StayLife
	return k.sign(labelStay, p)
}

// ReadLink reads a link. ok is false for one that is forged or over.
func (k Keeper) ReadLink(text string) (Pass, bool) { return k.read(labelLink, text) }

// ReadStay reads what a browser was given.
func (k Keeper) ReadStay(text string) (Pass, bool) { return k.read(labelStay, text) }

func (k Keeper) sign(l seal.Label, p Pass) string {
	// Texts and a number: nothing of it cannot be written.
	b, _ := json.Marshal(p)
	body := base64.RawURLEncoding.EncodeToString(b)
	return body + "." + base64.RawURLEncoding.EncodeToString(k.Master.MACText(l, body))
}

// maxText bounds what is read at all.
const maxText = 1024

func (k Keeper) read(l seal.Label, text string) (p Pass, ok bool) {
	body, sum, found := strings.Cut(text, ".")
	if !found || len(text) > maxText {
		return Pass{}, false
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(sum)
	if err != nil || !hmac.Equal(mac, k.Master.MACText(l, body)) {
		return Pass{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(b, &p) != nil {
		return Pass{}, false
	}
	return p, k.Now() < p.Until
}
