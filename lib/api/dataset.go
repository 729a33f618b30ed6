package api

import (
	"encoding/json"
	"time"
)

// States of an item's review.
const (
	ReviewPending  = "pending"
	ReviewApproved = "approved"
	ReviewRejected = "rejected"
)

// Formats of a dataset's export.
const (
	DatasetJSONL = "jsonl"
	DatasetJSON  = "json"
	DatasetCSV   = "csv"
)

// ReviewPolicy is what approves an item: so many people, of whom one may have
// written it where allow_self says so.
type ReviewPolicy struct {
	ReviewersRequired int  `json:"reviewers_required"`
	AllowSelf         bool `json:"allow_self"`
}

// DatasetRecord is a dataset as it stands. Counts leave out withdrawn items.
type DatasetRecord struct {
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Description   string       `json:"description"`
	ReviewPolicy  ReviewPolicy `json:"review_policy"`
	ItemCount     int          `json:"item_count"`
	ReviewedCount int          `json:"reviewed_count"`
	LatestVersion *int         `json:"latest_version"`
	CreatedAt     time.Time    `json:"created_at"`
	ArchivedAt    *time.Time   `json:"archived_at"`
}

// NewReviewPolicy sets parts of a policy; what is absent stays as it is.
type NewReviewPolicy struct {
	ReviewersRequired *int  `json:"reviewers_required,omitempty"`
	AllowSelf         *bool `json:"allow_self,omitempty"`
}

// NewDataset makes a dataset.
type NewDataset struct {
	Name         string           `json:"name"`
	Description  *string          `json:"description,omitempty"`
	ReviewPolicy *NewReviewPolicy `json:"review_policy,omitempty"`
}

// UpdateDataset changes what is set.
type UpdateDataset struct {
	Description  *string          `json:"description,omitempty"`
	ReviewPolicy *NewReviewPolicy `json:"review_policy,omitempty"`
}

// NewItemSource is the step of a trace that an item is made of; without a span
// it is the root. Its input is copied where the item has none, and its output
// as the expected answer where that is asked for.
type NewItemSource struct {
	TraceID            string `json:"trace_id"`
	SpanID             string `json:"span_id,omitempty"`
	ExpectedFromOutput bool   `json:"expected_from_output,omitempty"`
}

// NewDatasetItem is an item to be added.
type NewDatasetItem struct {
	Input    json.RawMessage `json:"input,omitempty"`
	Expected json.RawMessage `json:"expected,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Source   *NewItemSource  `json:"source,omitempty"`
}

// NewDatasetItems are items to be added, all or none; at most 500.
type NewDatasetItems struct {
	Items []NewDatasetItem `json:"items"`
}

// UpdateDatasetItem gives an item other content; what is absent stays. It voids
// what was said of the item.
type UpdateDatasetItem struct {
	Input    json.RawMessage `json:"input,omitempty"`
	Expected json.RawMessage `json:"expected,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// ItemSource is where an item came from. It outlives the trace.
type ItemSource struct {
	TraceID       string `json:"trace_id"`
	SourceTraceID string `json:"source_trace_id"`
	TraceRevision int    `json:"trace_revision"`
	SpanID        string `json:"span_id"`
}

// DatasetItem is an item as it stands. Its review is of its digest.
type DatasetItem struct {
	ID         string          `json:"id"`
	Input      json.RawMessage `json:"input"`
	Expected   json.RawMessage `json:"expected"`
	Metadata   json.RawMessage `json:"metadata"`
	Source     *ItemSource     `json:"source"`
	Review     string          `json:"review"`
	ReviewedBy []string        `json:"reviewed_by"`
	Note       string          `json:"note"`
	Revision   int             `json:"revision"`
	Digest     string          `json:"digest"`
	Author     string          `json:"author"`
	CreatedAt  time.Time       `json:"created_at"`
	ChangedAt  time.Time       `json:"changed_at"`
}

// NewItemReview says what a person thinks of an item. With a digest it is only
// recorded while the item is still what was read.
type NewItemReview struct {
	Decision string `json:"decision"`
	Digest   string `json:"digest,omitempty"`
	Note     string `json:"note,omitempty"`
}

// NewDatasetVersion seals the approved items.
type NewDatasetVersion struct {
	Note    string `json:"note,omitempty"`
	Include string `json:"include,omitempty"`
}

// DatasetVersion is a sealed list of approved items, which never changes. Its
// sha256 is of what the items say, in whatever order and database.
type DatasetVersion struct {
	Version          int        `json:"version"`
	SHA256           string     `json:"sha256"`
	ItemCount        int        `json:"item_count"`
	Added            int        `json:"added"`
	Changed          int        `json:"changed"`
	Removed          int        `json:"removed"`
	LeftOut          int        `json:"left_out"`
	Note             string     `json:"note"`
	SealedBy         string     `json:"sealed_by"`
	CreatedAt        time.Time  `json:"created_at"`
	RetractedAt      *time.Time `json:"retracted_at"`
	RetractionReason string     `json:"retraction_reason"`
}

// NewRetraction says why a version was a mistake.
type NewRetraction struct {
	Reason string `json:"reason"`
}

// DatasetDiff is by which items two versions differ.
type DatasetDiff struct {
	From    int      `json:"from"`
	To      int      `json:"to"`
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}
