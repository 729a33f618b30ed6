package core

import "github.com/evalrouter/evalrouter/lib/usd"

// State is a run's state. The last four are forever.
type State string

// Run states.
const (
	Queued    State = "queued"
	Running   State = "running"
	Stopping  State = "stopping"
	Completed State = "completed"
	Partial   State = "partial"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Terminal says that the state is final.
func (s State) Terminal() bool {
	return s == Completed || s == Partial || s == Failed || s == Cancelled
}

// WaitsForOperator is what a run of a restored database waits for: it has
// stopped, and ends once the operator has acknowledged the restore.
const WaitsForOperator = "restore_unacknowledged"

// Reason says why a run stopped, in the words of the contract.
type Reason string

// Terminal reasons.
const (
	ReasonCompleted   Reason = "completed"
	SpendingCap       Reason = "spending_cap"
	CancelledByUser   Reason = "cancelled_by_user"
	TimeLimit         Reason = "time_limit"
	ProviderDown      Reason = "provider_unavailable"
	CredentialFailed  Reason = "credential_rejected"
	AllTasksFailed    Reason = "all_tasks_failed"
	InternalFailure   Reason = "internal_error"
	UsageUnreported   Reason = "usage_unreported"
	RoutePaused       Reason = "route_paused"
	RestoredReason    Reason = "restored"
	JudgesUnavailable Reason = "judges_unavailable"
)

// Run is a run's row: its state and its money. The quote holds the rest.
type Run struct {
	ID        RunID
	Workspace WorkspaceID
	QuoteID   QuoteID
	GroupID   string
	SourceRun RunID
	// ContinuedBy is the run that goes on with this one, "" for none.
	ContinuedBy RunID
	ChainRoot   RunID
	ChainPos    int
	ScopeHash   string
	Name        string
	Metadata    map[string]string
	State       State
	Reason      Reason // "" until a stop is decided
	// Detail is the cause of a stop in a sentence, sanitised, "" when the
	// reason says everything.
	Detail string
	Book   Book
	Cap    usd.Micro
	// Held is what admission set aside from credit.
	Held     usd.Micro
	Charged  usd.Micro
	Metered  usd.Micro
	Reserved usd.Micro
	Waived   usd.Micro
	Absorbed usd.Micro
	// Unreported counts answered calls without usable usage.
	Unreported        int
	HoldReleased      bool
	Planned           int
	NextSeq           int64
	CreatedAt         Micros
	StartedAt         Micros // 0 = not yet
	CancelRequestedAt Micros
	EndedAt           Micros
	RetryAt           Micros
	WaitingReason     string
	// Tallies counts settled tasks by outcome.
	Tallies Tallies
}

// Stop is a decision to start no more calls in a run.
type Stop struct {
	Reason Reason
	// Detail becomes Run.Detail; longer than MaxDetail it is cut.
	Detail string
	// Event names the log's entry; "" means run.stopping.
	Event string
	Data  map[string]any
}

// MaxDetail bounds Stop.Detail, in code points.
const MaxDetail = 300

// Spend is what counts against the cap and is decided: charged and metered.
func (r Run) Spend() usd.Micro { return r.Charged + r.Metered }

// WorkspaceInfo is a workspace's row.
type WorkspaceInfo struct {
	ID        WorkspaceID
	Slug      string
	Name      string
	Epoch     int64
	Practice  bool // has practice credit
	CreatedAt Micros
}

// Credits is one book of a workspace.
type Credits struct {
	Available usd.Micro
	Held      usd.Micro
}

// Event is one line of a run's log.
type Event struct {
	Seq  int64
	Type string
	At   Micros
	Data map[string]any
}

// Event types.
const (
	EventQueued          = "run.queued"
	EventStarted         = "run.started"
	EventStopping        = "run.stopping"
	EventWaiting         = "run.waiting"
	EventProgress        = "run.progress"
	EventTaskGraded      = "task.graded"
	EventTasksReused     = "task.reused"
	EventSavedGraded     = "task.saved_response_graded"
	EventTaskFailed      = "task.failed"
	EventTaskSkipped     = "task.skipped"
	EventCallRetry       = "call.retry"
	EventHeld            = "billing.held"
	EventReleased        = "billing.released"
	EventWaived          = "billing.waived"
	EventSettled         = "billing.settled"
	EventCapReached      = "run.cap_reached"
	EventCancelRequested = "run.cancel_requested"
	EventFinalizing      = "run.finalizing"
	EventFinished        = "run.finished"
	EventPublished       = "result.published"
	EventOverBound       = "usage.over_bound"
)
