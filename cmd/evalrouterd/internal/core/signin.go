package core

import (
	"errors"
	"slices"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// APIKey is an API key as it is kept: a keyed hash, never the secret.
type APIKey struct {
	ID        string
	Workspace WorkspaceID
	Name      string
	Prefix    string // the public part, by which a key is found
	MAC       []byte
	Scopes    []string
	// Connection is the trace connection that an ingest key brings traces to, ""
	// for every other key.
	Connection TraceConnectionID
	CreatedBy  UserID // "" for the operator
	// Lineage is the first key of a row of rotations: what one of them spent,
	// all have.
	Lineage    string
	Ceiling    usd.Micro // 0 = none
	CreatedAt  Micros
	ExpiresAt  Micros // 0 = never
	RevokedAt  Micros // 0 = not revoked
	LastUsedAt Micros // to about a minute
}

// Session is a browser in which somebody signed in.
type Session struct {
	ID   string
	MAC  []byte // of the cookie
	User UserID
	// ProvedAt is when the password was given last.
	ProvedAt  Micros
	CreatedAt Micros
	UsedAt    Micros
	ExpiresAt Micros
	Address   string
}

// Lives of what a sign-in is made of.
const (
	second = 1_000_000
	minute = 60 * second
	day    = 24 * 3600 * second

	SessionLife  = 7 * day
	SessionIdle  = day / 2
	ProofLife    = 15 * minute
	AccessLife   = 15 * minute
	RefreshIdle  = 30 * day
	GrantLife    = 90 * day
	RefreshGrace = minute
	CodeLife     = minute
	DeviceLife   = 10 * minute
	// DevicePoll is how long a device waits between two questions, and what is
	// added each time that it does not.
	DevicePoll = 5 * second
)

// Grant is a sign-in of a command line: the family of all its tokens.
type Grant struct {
	ID        string
	User      UserID
	Client    string
	Device    string // the name that the client gave of its machine
	Flow      string // browser or device
	Scopes    []string
	Address   string // of the client
	CreatedAt Micros
	UsedAt    Micros
	ExpiresAt Micros
	RevokedAt Micros
	Reason    string // why it was revoked
}

// Flows of a sign-in.
const (
	FlowBrowser = "browser"
	FlowDevice  = "device"
)

// Tokens are what is kept of a pair of tokens: MACs, and the public part by
// which the access token is found.
type Tokens struct {
	AccessPrefix string
	AccessMAC    []byte
	RefreshMAC   []byte
}

// AuthCode is what a browser carries back to a command line.
type AuthCode struct {
	MAC       []byte
	User      UserID
	Client    string
	Redirect  string
	Challenge string // base64url of the SHA-256 of the verifier
	Scopes    []string
	Address   string
	ExpiresAt Micros
}

// Steps that a sign-in on another device still waits for.
const (
	StageSignIn  = "sign_in"
	StageVerify  = "verify_email"
	StageSetup   = "setup"
	StageApprove = "approve"
)

// States of a device's question.
const (
	DevicePending  = "pending"
	DeviceApproved = "approved"
	DeviceDenied   = "denied"
	DeviceRedeemed = "redeemed"
)

// DeviceRequest is a command line that waits for an approval elsewhere.
type DeviceRequest struct {
	ID        string
	Device    []byte // MAC of the device code
	UserCode  []byte // MAC of the code that a person types
	Client    string
	Version   string
	Name      string
	Scopes    []string
	Address   string
	State     string
	Stage     string
	User      UserID // who acted on it last
	Interval  Micros
	PolledAt  Micros
	CreatedAt Micros
	ExpiresAt Micros
}

// SignedIn is who an access token stands for.
type SignedIn struct {
	Grant     string
	User      User
	Scopes    []string
	MAC       []byte // of the access token
	ExpiresAt Micros
	RevokedAt Micros
}

// Within keeps the scopes of a that are also in b, sorted and once each.
func Within(a, b []string) []string {
	out := slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
	slices.Sort(out)
	return slices.Compact(out)
}

// What a question about a token came to beside success.
var (
	// ErrGrant says that the token, code or sign-in is unknown, used up or ended.
	ErrGrant = errors.New("not a valid grant")
	// ErrReplayed is ErrGrant for what was used before, by somebody who should
	// not have it any more: the whole family ended.
	ErrReplayed = errors.New("used before")
)

// Rotated is the outcome of a rotation: the salt from which the successor is
// derived, in the first answer and in every repetition within the grace.
type Rotated struct {
	Grant Grant
	Salt  []byte
	// At is when the successor was made, for its expiries.
	At Micros
}

// Polled is what a device learns.
type Polled struct {
	DeviceRequest
	// Early says that it asked sooner than it was told to.
	Early   bool
	Expired bool
	Grant   Grant
}
