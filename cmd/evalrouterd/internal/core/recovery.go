package core

import "github.com/evalrouter/evalrouter/lib/usd"

// Recovered counts what a restart found.
type Recovered struct {
	Voided  int // intents: never sent, planned again for free
	Unknown int // sent: the process that could have had the answer is dead
}

// Progress says where a run stands for its dispatcher.
type Progress struct {
	// Next is the first place of the order that has no row yet.
	Next int
	// Redo lists places that were opened and are planned again, in order.
	Redo []Redo
	// Answered lists places whose stored answers wait for a grade.
	Answered []int
	// Judging lists places that are answered in part and still wait for judges
	// or further parts.
	Judging []int
}

// Redo is a task to ask again, with the attempts it already had.
type Redo struct {
	Idx     int
	Attempt int
	// Opened says that the task has a row. In a continuation it may have one
	// before its first attempt.
	Opened bool
}

// Reply is what is recorded of one judge about one task, or of the model about
// one part of it.
type Reply struct {
	Idx     int
	Part    int
	Attempt int // the newest
	State   CallState
	Outcome string
	// Raw is nil where nothing was recorded, or it expired.
	Raw      []byte
	Finish   string
	UsageDoc string
	Spent    usd.Micro
	Nonce    string
	Hash     string // of the request as sent
}

// Evidence is the stored answer of a task's last answered call.
type Evidence struct {
	Call      CallID
	Raw       []byte // nil once expired
	SHA256    string
	Finish    string
	UsageDoc  string
	Spent     usd.Micro
	Reserved  usd.Micro
	RequestID string
}
