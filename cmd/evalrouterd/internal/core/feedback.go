package core

// MaxFeedback bounds the reports of a workspace.
const MaxFeedback = 1000

// Feedback is a report of a person or an agent about the product. It holds the
// sender's own words and the names that were given with them; nothing of tasks,
// prompts, answers or logs is ever added.
type Feedback struct {
	ID        string
	Workspace WorkspaceID
	Actor     string
	Kind      string // bug, docs or confusing_behavior
	Severity  string // blocker, degraded or nice_to_have
	Summary   string
	Details   string
	// Context is the request and the programs, as the JSON of the wire.
	Context   string
	ContactOK bool
	// Digest is the same for reports about the same thing.
	Digest string
	Status string // received, triaged, resolved or declined
	// DuplicateOf is the first report with this digest, "" for the first.
	DuplicateOf string
	CreatedAt   Micros
}
