package core

import "errors"

// Claim is one process's turn at a run, where several processes share a
// database. Fence counts the turns of the run: whoever took over later has a
// higher one, and a write under an older fence changes nothing. The zero Fence
// belongs to a process that is alone and needs no turns.
type Claim struct {
	Run       RunID
	Workspace WorkspaceID
	Fence     int64
}

// ErrFenced says that another process has taken the run over since it was
// claimed: nothing was changed, and the run is no longer the caller's.
var ErrFenced = errors.New("the run was taken over by another process")
