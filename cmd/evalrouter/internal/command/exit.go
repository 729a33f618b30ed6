package command

import (
	"errors"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Exit codes. There is no 3.
const (
	exitOK       = 0
	exitFailed   = 1 // the service or the network failed, or the run did
	exitRejected = 2 // bad input or a rejected request; nothing was started
	exitPartial  = 4 // the watched run ended partial or cancelled
	exitDeclined = 5 // the person said no; nothing was started
	exitLost     = 6 // the service stayed out of reach while watching
)

// ExitCode is the exit code that an error means. It is the only place that
// knows.
func ExitCode(err error) int {
	var ended *Ended
	var call *evalrouter.Error
	var refused *flow.Error
	switch {
	case err == nil, term.Closed(err):
		return exitOK
	case errors.As(err, &ended):
		return ended.Code
	case errors.Is(err, term.ErrDeclined):
		return exitDeclined
	case errors.As(err, &refused):
		return exitOf(refused.Code)
	case errors.As(err, &call) && call.Status != 0:
		return exitOfStatus(call.Status)
	case errors.As(err, &call):
		return exitOf(call.Code)
	}
	var usage *argv.UsageError
	var list *table.Error
	var config *profile.Error
	var service *local.Error
	switch {
	case errors.As(err, &usage), errors.As(err, &list), errors.As(err, &config):
		return exitRejected
	case errors.As(err, &service) && service.Refused:
		return exitRejected
	case errors.As(err, &service):
		return exitOf(service.Code)
	}
	return exitFailed
}

// exitOf maps the codes that are given on this side of the network.
func exitOf(c api.Code) int {
	switch c {
	case api.ConfirmationDeclined:
		return exitDeclined
	case api.WatchLost:
		return exitLost
	case api.InvalidConfiguration, api.InvalidInput, api.InvalidRequest, api.DestinationExists, api.UnsupportedFeature,
		api.BenchmarkUnknown, api.ModelUnknown, api.RunUnknown, api.CommandUnknown, api.ConnectionUnknown, api.AmbiguousModel, api.AmbiguousID,
		api.ContinuationExists, api.RunNotFinished, api.LeftOutUnacknowledged, api.DuplicateCharges,
		api.UnattendedRefused, api.CompareMismatch, api.ArchiveChanged, api.SignedOut, api.QuoteChanged, api.RepeatNeedsNew, api.StateUnwritable,
		api.StateCorrupt, api.BenchmarkExtraRequired, api.LangSmithExtraRequired, api.MCPExtraRequired, api.ApprovalRequired, api.CapBelowMinimum, api.QuoteAlreadyAccepted,
		api.ModelUnavailable, api.ConnectionUnverified, api.JudgeOnlyRoute, api.UnboundedModelCost,
		api.OutputFormatUnsupported, "missing_capability", "context_too_small", "output_limit_too_small":
		return exitRejected
	}
	return exitFailed
}

// exitOfStatus maps answers of the service.
func exitOfStatus(status int) int {
	switch status {
	case 400, 402, 409, 410, 422, 426:
		return exitRejected
	}
	return exitFailed
}

// ExitOfCode is the exit code of an error code: of an answer with that status,
// or without an answer where status is 0.
func ExitOfCode(c api.Code, status int) int {
	if status != 0 {
		return exitOfStatus(status)
	}
	return exitOf(c)
}

// exitOfRun maps the end of a watched run.
func exitOfRun(s api.RunStatus) int {
	switch s {
	case api.StatusCompleted:
		return exitOK
	case api.StatusPartial, api.StatusCancelled:
		return exitPartial
	}
	return exitFailed
}

// EndOf is the error of a run that ended otherwise than completed. Its result
// has been printed, so that nothing more is.
func EndOf(s api.RunStatus) error {
	if code := exitOfRun(s); code != exitOK {
		return &Ended{Code: code}
	}
	return nil
}
