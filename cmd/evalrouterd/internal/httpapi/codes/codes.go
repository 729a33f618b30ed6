// Package codes is the HTTP status of each code of the contract. A status is a
// property of its code: no handler chooses one.
package codes

import (
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Statuses is the HTTP status of every code that the service can give.
func Statuses() map[api.Code]int {
	return map[api.Code]int{
		api.AmbiguousModel:          http.StatusConflict,
		api.BudgetLimit:             http.StatusUnprocessableEntity,
		api.BudgetRequired:          http.StatusUnprocessableEntity,
		api.CapBelowMinimum:         http.StatusUnprocessableEntity,
		api.ClientOutdated:          http.StatusUpgradeRequired,
		api.ConcurrencyUnsupported:  http.StatusUnprocessableEntity,
		api.ConnectionUnverified:    http.StatusConflict,
		api.ContinuationExists:      http.StatusConflict,
		api.DuplicateCharges:        http.StatusUnprocessableEntity,
		api.EndpointRefused:         http.StatusUnprocessableEntity,
		api.EvidenceExpired:         http.StatusGone,
		api.EvidenceIncompatible:    http.StatusConflict,
		api.FeatureUnavailable:      http.StatusNotFound,
		api.HostRefused:             http.StatusForbidden,
		api.IdempotencyConflict:     http.StatusConflict,
		api.IdempotencyKeyRequired:  http.StatusBadRequest,
		api.InsufficientCredit:      http.StatusPaymentRequired,
		api.InsufficientScope:       http.StatusForbidden,
		api.InternalError:           http.StatusInternalServerError,
		api.InvalidCursor:           http.StatusUnprocessableEntity,
		api.InvalidRequest:          http.StatusUnprocessableEntity,
		api.JudgeOnlyRoute:          http.StatusUnprocessableEntity,
		api.KeyRevoked:              http.StatusUnauthorized,
		api.KeyUnopenable:           http.StatusConflict,
		api.LeftOutUnacknowledged:   http.StatusUnprocessableEntity,
		api.ManifestInvalid:         http.StatusUnprocessableEntity,
		api.MethodNotAllowed:        http.StatusMethodNotAllowed,
		api.ModelUnavailable:        http.StatusConflict,
		api.NamespaceNotFound:       http.StatusNotFound,
		api.NotAcceptable:           http.StatusNotAcceptable,
		api.NotFound:                http.StatusNotFound,
		api.NothingToResume:         http.StatusConflict,
		api.OperationInProgress:     http.StatusConflict,
		api.OutputFormatUnsupported: http.StatusUnprocessableEntity,
		api.QuoteAlreadyAccepted:    http.StatusConflict,
		api.QuoteExpired:            http.StatusGone,
		api.QuoteStale:              http.StatusConflict,
		api.RateLimited:             http.StatusTooManyRequests,
		api.ReasoningUnsupported:    http.StatusUnprocessableEntity,
		api.RequestTooLarge:         http.StatusRequestEntityTooLarge,
		api.ResultExpired:           http.StatusGone,
		api.ResumeUnsupported:       http.StatusUnprocessableEntity,
		api.RetryUnknownLimit:       http.StatusUnprocessableEntity,
		api.RunNotFinished:          http.StatusConflict,
		api.SessionExpired:          http.StatusUnauthorized,
		api.SourceNotReady:          http.StatusConflict,
		api.SourceOffset:            http.StatusConflict,
		api.SourceQuota:             http.StatusConflict,
		api.SourceTooLarge:          http.StatusRequestEntityTooLarge,
		api.SpendCeilingReached:     http.StatusForbidden,
		api.StorageFull:             http.StatusInsufficientStorage,
		api.StorageLow:              http.StatusServiceUnavailable,
		api.Unauthenticated:         http.StatusUnauthorized,
		api.UnboundedModelCost:      http.StatusUnprocessableEntity,
		api.Unavailable:             http.StatusServiceUnavailable,
		api.UnsupportedMediaType:    http.StatusUnsupportedMediaType,
		api.WorkspaceMismatch:       http.StatusForbidden,
		api.WorkspaceRequired:       http.StatusBadRequest,
	}
}
