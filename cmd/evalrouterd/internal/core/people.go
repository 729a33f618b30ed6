package core

import (
	"slices"
	"strings"
)

// UserID is a random UUID.
type UserID string

// Role is what a member may do in a workspace.
type Role string

// Roles, the widest first.
const (
	RoleOwner  Role = "owner"
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
	RoleViewer Role = "viewer"
)

// Roles lists every role, the widest first.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleMember, RoleViewer} }

// Known says whether it is one of Roles.
func (r Role) Known() bool { return slices.Contains(Roles(), r) }

// Scopes are those of all that the role has: a viewer reads, a member also
// makes and changes evaluations and data, an admin and an owner do everything.
// A role that is not known has none.
func (r Role) Scopes(all []string) []string {
	var out []string
	for _, s := range all {
		reads := strings.HasSuffix(s, ":read")
		writes := strings.HasSuffix(s, ":write") || s == "benchmarks:submit"
		if r == RoleOwner || r == RoleAdmin || r == RoleMember && (reads || writes) || r == RoleViewer && reads {
			out = append(out, s)
		}
	}
	return out
}

// Manages says whether this role may give and take another one. Owners are
// made and unmade by owners only.
func (r Role) Manages(other Role) bool {
	return r == RoleOwner || r == RoleAdmin && other != RoleOwner
}

// States of a user. Whoever is not verified yet is a Registration.
const (
	UserActive   = "active"
	UserDisabled = "disabled"
)

// User is a person whose e-mail address was verified, by a mail or by the
// operator.
type User struct {
	ID         UserID
	Email      string // lower case
	Name       string
	Password   string // its hash, never the password
	State      string
	VerifiedBy string // mail or operator
	CreatedAt  Micros
}

// Registration waits for a code that was mailed, or for the operator. It is
// bound to the browser that made it: a code proves an address only together
// with that browser's secret, so that nobody verifies somebody else's password.
type Registration struct {
	ID        string
	Browser   []byte // MAC of the browser's secret
	Email     string
	Name      string
	Password  string
	Code      []byte // MAC of the mailed code; nil where the operator decides
	Tries     int
	Address   string
	CreatedAt Micros
	ExpiresAt Micros
}

// Reset is that somebody asked for another password.
type Reset struct {
	ID        string
	Browser   []byte // MAC of the browser's secret
	Email     string
	Code      []byte // MAC of the mailed code; of nothing that was mailed where there is no account
	Tries     int
	Address   string
	CreatedAt Micros
	ExpiresAt Micros
}

// MaxCodeTries is how many wrong codes end a registration, or a request for
// another password.
const MaxCodeTries = 5

// Membership is a workspace as one of its members sees it.
type Membership struct {
	WorkspaceInfo
	Role Role
}

// Member is a person in a workspace.
type Member struct {
	User  UserID
	Email string
	Name  string
	Role  Role
	Since Micros
}

// Invitation offers a role to whoever has the verified address. It has no
// secret: signing in with that address is the proof.
type Invitation struct {
	ID        string
	Workspace WorkspaceID
	Name      string // of the workspace
	Email     string
	Role      Role
	By        UserID
	CreatedAt Micros
	ExpiresAt Micros
}

// InvitationLife is how long an invitation can be accepted.
const InvitationLife = 7 * 24 * 3600 * 1_000_000

// MaxOwned is how many workspaces one person can make.
const MaxOwned = 5

// By is who does something and from where, for the log of changes. Entry is the
// id of the log's line.
type By struct {
	Entry     string
	Workspace WorkspaceID // "" for what concerns no workspace
	Actor     string
	Address   string
}

// LogLine is one line of the log of changes.
type LogLine struct {
	ID        string
	At        Micros
	Workspace WorkspaceID
	Actor     string
	Address   string
	Action    string
	Subject   string
	Detail    string
}
