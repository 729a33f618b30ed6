package core

import "encoding/json"

type (
	// DatasetID is a random UUID.
	DatasetID string
	// ItemID is a time-ordered UUID.
	ItemID string
)

// Bounds of datasets.
const (
	MaxDatasets     = 1_000 // of a workspace that are not archived
	MaxDatasetItems = 50_000
	MaxItemsAtOnce  = 500
	MaxReviewers    = 3
)

// Dataset is items under review, and versions that were sealed of them.
type Dataset struct {
	ID          DatasetID
	Workspace   WorkspaceID
	Name        string
	Description string
	// Reviewers is how many must approve an item, and AllowSelf that whoever
	// wrote it may be one of them.
	Reviewers  int
	AllowSelf  bool
	Items      int // that were not withdrawn
	Reviewed   int // of these, approved ones
	Latest     int // version; 0 = none
	Actor      string
	CreatedAt  Micros
	ArchivedAt Micros
}

// States of an item's review.
const (
	ReviewPending  = "pending"
	ReviewApproved = "approved"
	ReviewRejected = "rejected"
)

// ItemSource is where an item came from, copied so that it outlives the trace.
type ItemSource struct {
	TraceID       TraceID `json:"trace_id"`
	SourceTraceID string  `json:"source_trace_id"`
	TraceRevision int     `json:"trace_revision"`
	SpanID        string  `json:"span_id"`
}

// ItemContent is what an item asks and expects, each canonical JSON; Expected
// and Metadata may be nil.
type ItemContent struct {
	Input, Expected, Metadata json.RawMessage
}

// DatasetItem is an item as it stands. Its digest is that of its content, and
// its review is of that digest alone.
type DatasetItem struct {
	ItemContent
	ID         ItemID
	Dataset    DatasetID
	Revision   int
	Digest     string
	Source     *ItemSource
	Review     string
	ReviewedBy []string
	Note       string // of the last review
	Author     string // of the revision
	CreatedAt  Micros
	ChangedAt  Micros
}

// NewItem is an item to be added.
type NewItem struct {
	ItemContent
	ID     ItemID
	Digest string
	Source *ItemSource
}

// Verdict is one person's review of an item.
type Verdict struct {
	Item     ItemID
	Digest   string // of what was read; "" for what stands
	Approved bool
	Note     string
}

// DatasetVersion is a sealed list of approved items. It never changes.
type DatasetVersion struct {
	Dataset                 DatasetID
	Version                 int
	SHA256                  string
	Items                   int
	Added, Changed, Removed int // since the version before
	LeftOut                 int // items that were not approved
	Note                    string
	Actor                   string
	CreatedAt               Micros
	// RetractedAt is 0 while the version is in use.
	RetractedAt Micros
	Reason      string
}

// SealedItem is an item in a version.
type SealedItem struct {
	ItemContent
	ID       ItemID
	Revision int
	Digest   string
	Source   *ItemSource
}
