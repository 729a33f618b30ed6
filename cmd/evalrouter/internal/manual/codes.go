package manual

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Problem explains one error code.
type Problem struct {
	Code api.Code `json:"code"`
	// Status is that of the service's answer, 0 where no answer is involved.
	Status int `json:"status,omitempty"`
	// Cause is what happened, Money what that means for money, Next what helps.
	Cause string `json:"cause"`
	Money string `json:"money"`
	Next  string `json:"next"`
}

// What an error means for money, in the cases that there are.
const (
	free    = "Nothing was started or charged."
	perhaps = "It may have been done. The same idempotency key never does it twice."
	goesOn  = "The run goes on at the service, under its cap."
	kept    = "What was charged before stays charged; this costs nothing."
	reads   = "Reading costs nothing."
)

// Problems is every code, those of the service first.
func Problems() []Problem {
	return append(serviceProblems(), ownProblems()...)
}

func serviceProblems() []Problem {
	return []Problem{
		{api.AmbiguousModel, 409, "The name fits several models.", free, "Name one of the models that the error lists."},
		{api.BudgetLimit, 422, "The cap is above what the service or the workspace allows.", free, "Give a smaller --max-cost."},
		{api.BudgetRequired, 422, "The request has no spending cap.", free, "Give --max-cost."},
		{api.CapBelowMinimum, 422, "The cap cannot pay for one task.", free, "Give at least the cap that the error names."},
		{api.ClientOutdated, 426, "The service no longer speaks with this version.", free, "Install a newer evalrouter."},
		{api.ConcurrencyUnsupported, 422, "The route does not run that many calls at once.", free, "Leave --concurrency out, or give a smaller number."},
		{api.ConnectionUnverified, 409, "The connection was never checked, or its last check failed.", free, "evalrouter connections check CONNECTION"},
		{api.ContinuationExists, 409, "The run has been continued already.", free, "Look at the run that the error names."},
		{api.DatasetArchived, 409, "The dataset was archived.", free, "Make another one; its versions can still be read."},
		{api.DigestMismatch, 0, "An imported trace is not what its digest says.", free, "Import it again; if it comes back, update evalrouter-langsmith."},
		{api.DuplicateCharges, 422, "Your own provider may bill some tasks twice, and that was not accepted.", free, "Give --accept-duplicate-provider-charges, or leave --retry-unknown out."},
		{api.DuplicateItem, 409, "The dataset has an item with the same content.", free, "Edit that item, which the error names, or leave this one out."},
		{api.EndpointRefused, 422, "The service does not connect to that address.", free, "Name the address of a model server; the error says which the service reaches."},
		{api.EvidenceExpired, 410, "The recorded answers that the run rests on are no longer kept.", free, "Start a new run: evalrouter run --from RUN"},
		{api.EvidenceIncompatible, 409, "What the run asked, or how it was graded, has changed since, so new answers would not belong to its old ones.", free, "Start a new run: evalrouter run --from RUN"},
		{api.EvaluatorPaused, 409, "The evaluator is paused.", free, "Set it active, then let it look again."},
		{api.FeatureUnavailable, 404, "This service does not have that.", free, "The details name the feature."},
		{api.HostRefused, 403, "The request names a host that this service is not.", free, "Check --base-url."},
		{api.IdempotencyConflict, 409, "The idempotency key was used with another request.", free, "Use the key with its own quote only, or a new key."},
		{api.IdempotencyKeyRequired, 400, "A request that spends came without a key.", free, "Give --idempotency-key."},
		{api.IngestOnly, 403, "An ingest key was used for something else than bringing traces to its connection.", free, "Use an API key here, and the key of that connection for its traces."},
		{api.InsufficientCredit, 402, "The workspace has too little free credit for this cap.", free, "Add credit or give a smaller --max-cost; the same command submits the same quote, once."},
		{api.InsufficientScope, 403, "The key may not do this.", free, "Use a key with the scope that the details name."},
		{api.InternalError, 500, "Something failed that should not.", perhaps, "Repeat the command; the request id helps the operator."},
		{api.InvalidCursor, 422, "The cursor is not one of this list.", reads, "Start the list again without --cursor."},
		{api.InvalidRequest, 422, "The service refused the request; the details name the places.", free, "Correct the places that the error names."},
		{api.ItemChanged, 409, "An item was edited after it was read for its review.", free, "Read it again, then review it."},
		{api.JudgeOnlyRoute, 422, "The model grades answers and cannot be evaluated.", free, "evalrouter catalog --models"},
		{api.KeyRevoked, 401, "The API key was revoked.", free, "Use another key."},
		{api.KeyUnopenable, 409, "The stored key of the connection cannot be opened any more.", free, "evalrouter connections update CONNECTION --rotate-key"},
		{api.LeftOutUnacknowledged, 422, "Some tasks would be left out for good, and that was not acknowledged.", free, "Give --accept-left-out."},
		{api.MalformedExport, 400, "A batch of spans cannot be read.", free, "Set the exporter to OTLP over HTTP, protobuf or JSON, with gzip or without."},
		{api.ManifestInvalid, 422, "The benchmark's manifest, or a row of its source, breaks a rule.", free, "Correct the places that the error names, then preview again."},
		{api.MethodNotAllowed, 405, "The service does not have this request.", free, "Use versions of evalrouter and the service that fit."},
		{api.ModelUnavailable, 409, "The model cannot be used now.", free, "evalrouter catalog --models"},
		{api.NamespaceNotFound, 404, "The namespace of the benchmark does not exist.", free, "Check the name."},
		{api.NameTaken, 409, "Something of the workspace has this name already.", free, "Choose another name."},
		{api.NotAcceptable, 406, "The service does not answer in the form that was asked for.", free, "Use versions of evalrouter and the service that fit."},
		{api.NotFound, 404, "There is no such thing, or it belongs to another workspace.", free, "Check the id and the workspace: evalrouter options"},
		{api.NothingApproved, 422, "No item of the dataset is approved.", free, "evalrouter datasets items DATASET --review pending"},
		{api.NothingChanged, 409, "The newest version has exactly these items.", free, "Use that version."},
		{api.NothingToResume, 409, "Every task of the run is decided, or stays pending without your consent.", free, "evalrouter results RUN"},
		{api.OperationInProgress, 409, "The same submission is being worked on.", perhaps, "Repeat the same command in a moment."},
		{api.OutputFormatUnsupported, 422, "The benchmark does not ask for answers in that format.", free, "Leave --output-format out."},
		{api.QuoteAlreadyAccepted, 409, "A run was started from this quote with another key.", "The run that the error names is charged under its cap, and no other was started.", "evalrouter wait RUN"},
		{api.QuoteExpired, 410, "The quote is over.", free, "Ask for a new quote; running the same command does."},
		{api.QuoteStale, 409, "What the quote was made from has changed.", free, "Ask for a new quote."},
		{api.RateLimited, 429, "Too many requests in a short time.", free, "Wait as long as the error says, then repeat."},
		{api.ReasoningUnsupported, 422, "The route does not offer that reasoning setting.", free, "Leave --reasoning out, or choose what the route offers."},
		{api.RequestTooLarge, 413, "The request is larger than the service takes.", free, "Send less."},
		{api.ResultExpired, 410, "The result is no longer kept.", reads, "Run the benchmark again."},
		{api.ResumeUnsupported, 422, "Runs of this kind cannot be resumed; the details name the reason.", free, "Start a new run: evalrouter run --from RUN"},
		{api.RetryUnknownLimit, 422, "More tasks have an unknown outcome than --retry-unknown-max allows.", free, "Raise --retry-unknown-max, or leave --retry-unknown out."},
		{api.RunNotFinished, 409, "The run has not ended, so that it has no result.", reads, "evalrouter wait RUN"},
		{api.SelfReview, 403, "The dataset does not let whoever wrote an item review it.", free, "Ask somebody else, or: evalrouter datasets update DATASET --allow-self-review"},
		{api.SessionExpired, 401, "The sign-in is over.", free, "evalrouter login"},
		{api.SourceNotReady, 409, "The source is not whole yet, did not pass, or is archived.", free, "Upload the rest of it, or another source."},
		{api.SourceOffset, 409, "The part does not begin where the source ends.", free, "Go on from the offset that the error names."},
		{api.SourceQuota, 409, "The workspace has as many sources or benchmarks as it may.", free, "Archive some that are not used any more."},
		{api.SourceTooLarge, 413, "A source holds at most 64 MiB and 100,000 rows.", free, "Split it into several benchmarks."},
		{api.SpendCeilingReached, 403, "The key has spent what it may.", free, "Use another key, or have its ceiling raised."},
		{api.StorageFull, 507, "The service has no space left.", free, "Its operator must make space; running work waits."},
		{api.StorageLow, 503, "The service has too little space for new work.", free, "Its operator must make space."},
		{api.TooManyQuotes, 429, "The workspace has as many open quotes as it may have.", free, "They expire within half an hour; ask for fewer, or accept one."},
		{api.TooManyRuns, 429, "The workspace has as many runs going on as it may have.", free, "Wait for one to end, or cancel one; the same command then submits the same quote, once."},
		{api.TraceHeld, 409, "Dataset items were made of this trace.", free, "Delete it with --force; the items keep what they copied."},
		{api.TraceTooLarge, 0, "A trace has more spans than one may have.", free, "Split the run into several traces."},
		{api.Unauthenticated, 401, "The service does not know who is asking.", free, "Give EVALROUTER_API_KEY, or look at evalrouter options."},
		{api.UnboundedModelCost, 422, "The most that one call can cost is not known, so that no cap can hold.", free, "Declare the prices of the connection, or choose another model."},
		{api.Unavailable, 503, "The service is not ready.", perhaps, "Repeat the command in a moment."},
		{api.UnsupportedMediaType, 415, "The service does not read that kind of content.", free, "Use versions of evalrouter and the service that fit."},
		{api.VersionRetracted, 409, "The version was retracted.", free, "Seal another one."},
		{api.WorkspaceMismatch, 403, "The key belongs to another workspace.", free, "Check --workspace-id: evalrouter options"},
		{api.WorkspaceRequired, 400, "Several workspaces are possible.", free, "Give --workspace-id."},
	}
}

func ownProblems() []Problem {
	return []Problem{
		{api.AmbiguousID, 0, "The beginning of the id fits several.", free, "Type more of the id."},
		{api.ApprovalRequired, 0, "An agent asked to start a quote that no person approved, or no longer approves.", free, "Look at the quote and decide: evalrouter approve QUOTE"},
		{api.ArchiveChanged, 0, "A file of a saved comparison is not what was saved.", reads, "Take the archive from where it was first kept; the error names the file."},
		{api.BenchmarkExtraRequired, 0, "The program that makes benchmarks is not installed.", free, "Run the go install line that the error gives."},
		{api.BenchmarkUnknown, 0, "No benchmark has that name.", free, "evalrouter catalog"},
		{api.CacheMiss, 0, "There is no fresh local copy, and --offline asks no service.", reads, "Leave --offline out."},
		{api.CommandUnknown, 0, "There is no such command.", free, "evalrouter --help"},
		{api.CompareMismatch, 0, "The runs differ in what must be the same for a comparison.", reads, "Compare runs of the same benchmark version and tasks."},
		{api.ConfirmationDeclined, 0, "The question was answered with no.", free, "Repeat the command to see the quote again."},
		{api.ConnectionUnknown, 0, "No connection has that name.", free, "evalrouter connections list"},
		{api.DataDirInUse, 0, "Another service works on the same data directory.", free, "Stop that service, or give another --data."},
		{api.DataDirUnwritable, 0, "The data directory of the service cannot be written.", free, "Give it to this user, or set XDG_DATA_HOME."},
		{api.DestinationExists, 0, "A file has that name already.", reads, "Give another --output, or --overwrite for exports."},
		{api.ExportWriteFailed, 0, "The file could not be written; none was left.", reads, "Make space, or write elsewhere."},
		{api.GateFailed, 0, "The run did not pass a gate that was given, such as --min-score.", kept, "evalrouter results RUN"},
		{api.HTTPError, 0, "Something answered that is not this service.", perhaps, "Check --base-url: evalrouter options"},
		{api.InvalidConfiguration, 0, "The settings lead nowhere.", free, "evalrouter options"},
		{api.InvalidInput, 0, "The command line or the input cannot be used.", free, "The error says which part; COMMAND --help shows the flags."},
		{api.InvalidResponse, 0, "The answer is not one that this version understands.", perhaps, "Repeat the command; use versions that fit."},
		{api.LangSmithExtraRequired, 0, "The LangSmith connector is not installed.", free, "Run the go install line that the error gives."},
		{api.LangSmithKeyRefused, 0, "LangSmith refused its key.", free, "Set LANGSMITH_API_KEY to a valid key."},
		{api.LangSmithProject, 0, "LangSmith has no such project.", free, "evalrouter langsmith projects"},
		{api.LangSmithRefused, 0, "LangSmith refused a request.", free, "The error repeats what it said."},
		{api.LangSmithWorkspace, 0, "The LangSmith key has several workspaces.", free, "Set LANGSMITH_WORKSPACE_ID."},
		{api.LocalServiceFailed, 0, "The service on this machine did not start.", free, "evalrouter local logs"},
		{api.MCPExtraRequired, 0, "The program that serves agents is not installed.", free, "Run the go install line that the error gives."},
		{api.ModelUnknown, 0, "No model has that name.", free, "evalrouter catalog --models"},
		{api.NetworkError, 0, "The service could not be reached, or the connection broke.", perhaps, "Repeat the same command; evalrouter doctor looks for the cause."},
		{api.QuoteChanged, 0, "The quote ran out and the new one has other terms.", free, "Review the new quote and repeat the command."},
		{api.RedirectRejected, 0, "The service answered with a redirect, which is never followed.", free, "Check --base-url: evalrouter options"},
		{api.RepeatNeedsNew, 0, "The same work has just ended, and nobody can be asked.", free, "Give --new to do it again."},
		{api.RequestTimeout, 0, "It took longer than the limit.", perhaps, "Repeat the same command, perhaps with a longer --timeout or --wait-timeout."},
		{api.ResponseTooLarge, 0, "The answer is larger than this program takes.", reads, "Ask for less with --limit."},
		{api.RunFailed, 0, "The run ended as failed.", kept, "evalrouter events RUN"},
		{api.RunUnknown, 0, "No run has that id.", reads, "evalrouter status"},
		{api.SignInExpired, 0, "Nobody finished the sign-in in time.", free, "evalrouter login"},
		{api.SignInRefused, 0, "The sign-in was refused, in the browser or by the service.", free, "evalrouter login"},
		{api.SignedOut, 0, "Nobody is signed in at that service, and no key is given.", free, "evalrouter login, or EVALROUTER_API_KEY"},
		{api.StateCorrupt, 0, "A record of an operation cannot be trusted.", free, "Look for the run with evalrouter status, move the file away and repeat."},
		{api.StateHeld, 0, "Another process works with the same record.", free, "Wait for it, then repeat the command."},
		{api.StateUnwritable, 0, "The record of an operation cannot be written, so that nothing is bought.", free, "Set EVALROUTER_STATE_DIR to a directory that can be written."},
		{api.UnattendedRefused, 0, "Nobody can be asked here, and consent or the cap is missing.", free, "Give --yes and --max-cost."},
		{api.UnsupportedFeature, 0, "This version does not do that.", free, "The error names another way."},
		{api.WaitCancelled, 0, "Watching was interrupted.", goesOn, "evalrouter wait RUN"},
		{api.WatchLost, 0, "The service stayed out of reach while watching.", goesOn, "evalrouter wait RUN"},
	}
}

// Find is the explanation of one code.
func Find(code string) (Problem, bool) {
	for _, p := range Problems() {
		if string(p.Code) == code {
			return p, true
		}
	}
	return Problem{}, false
}

// ErrorsTopic is "help errors": every code with its cause.
func ErrorsTopic(exit func(Problem) int) string {
	var b strings.Builder
	b.WriteString("Error codes of evalrouter. One of them in full: evalrouter help errors CODE\n")
	for i, group := range [][]Problem{serviceProblems(), ownProblems()} {
		b.WriteString([]string{"\nFrom the service\n", "\nFrom this program\n"}[i])
		for _, p := range group {
			hanging(&b, fmt.Sprintf("  %-27s %d  ", p.Code, exit(p)), p.Cause)
		}
	}
	b.WriteString("\nThe number is the exit code.\n")
	return b.String()
}

// ErrorTopic is "help errors CODE".
func ErrorTopic(p Problem, exit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", p.Code)
	hanging(&b, "  Cause    ", p.Cause)
	hanging(&b, "  Money    ", p.Money)
	hanging(&b, "  Next     ", p.Next)
	fmt.Fprintf(&b, "  Exit     %d\n", exit)
	if p.Status != 0 {
		fmt.Fprintf(&b, "  Status   %d of the service's answer\n", p.Status)
	}
	return b.String()
}
