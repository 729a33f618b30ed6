// Package langsmith brings completed agent runs from LangSmith into EvalRouter
// and misses none.
//
// The promise: every root run that LangSmith shows within Lookback of its own
// start time is delivered at least once, and stored once; and nothing is marked
// as delivered before the destination acknowledged it.
//
// A single time stamp cannot keep that promise. Clients' clocks are wrong, runs
// become visible when they end or when a lost connection returns, and the only
// window that the source can search is the start time that the client wrote.
// So the start times of the last minutes are read again at every poll, those
// of the last hours less often, and all of Lookback a few times a day. What was
// delivered is remembered by id and by how it ended, so that reading again
// costs a page and no transfer.
//
// A run that has not ended is pending and is asked for by id. One that has
// ended settles for a minute, because its children and its token totals arrive
// later; its whole tree is then read, redacted, bounded and sent. An id and its
// content always make the same record, so that a delivery whose answer was lost
// is repeated without harm.
//
// The package decides; it touches no network, disk or clock itself. Source,
// Destination, Store and Clock are the four sides, which is how a simulator
// plays days of traffic with crashes in seconds. Package source reads LangSmith
// over HTTP, package checkpoint keeps the state in a file.
//
// The connector only reads from LangSmith: writing feedback there would extend
// the retention of traces and cost money.
package langsmith
