package api

import (
	"strings"
	"time"
)

// Limits of feedback, in code points.
const (
	MaxFeedbackSummary = 200
	MaxFeedbackDetails = 5000
)

// FeedbackKinds are what feedback may be about.
func FeedbackKinds() []string { return []string{"bug", "docs", "confusing_behavior"} }

// FeedbackSeverities are how much it hurts, worst first.
func FeedbackSeverities() []string { return []string{"blocker", "degraded", "nice_to_have"} }

// NewFeedback is what somebody says about the product. Summary has 1 to 200
// code points, Details at most 5,000; the short fields are FeedbackNames.
type NewFeedback struct {
	Kind       string         `json:"kind"`
	Severity   string         `json:"severity"`
	Summary    string         `json:"summary"`
	Details    string         `json:"details,omitempty"`
	ErrorCode  string         `json:"error_code,omitempty"`
	RequestID  string         `json:"request_id,omitempty"`
	HTTPStatus int            `json:"http_status,omitempty"`
	Method     string         `json:"method,omitempty"`
	Path       string         `json:"path,omitempty"`
	Client     FeedbackClient `json:"client"`
	Agent      *FeedbackAgent `json:"agent,omitempty"`
	ContactOK  bool           `json:"contact_ok,omitempty"`
}

// FeedbackClient is the program that sends feedback.
type FeedbackClient struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// FeedbackAgent is the agent on whose behalf it is sent.
type FeedbackAgent struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Model   string `json:"model,omitempty"`
}

// FeedbackContext is what stands beside the words of feedback.
type FeedbackContext struct {
	ErrorCode  string         `json:"error_code,omitempty"`
	RequestID  string         `json:"request_id,omitempty"`
	HTTPStatus int            `json:"http_status,omitempty"`
	Method     string         `json:"method,omitempty"`
	Path       string         `json:"path,omitempty"`
	Client     FeedbackClient `json:"client"`
	Agent      *FeedbackAgent `json:"agent,omitempty"`
}

// FeedbackReceipt is what became of feedback: received, triaged, resolved or
// declined.
type FeedbackReceipt struct {
	FeedbackID  string    `json:"feedback_id"`
	Status      string    `json:"status"`
	DuplicateOf *string   `json:"duplicate_of"`
	CreatedAt   time.Time `json:"created_at"`
}

// FeedbackName says that a short field of feedback has 1 to 120 letters, digits,
// spaces or characters of "._/:@+()-".
func FeedbackName(s string) bool {
	return s != "" && len(s) <= 120 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._/:@+()-") == ""
}
