// Package queue holds ended spans until the service has them or they are lost,
// and counts every one.
//
// What is counted adds up at any moment:
//
//	Started + Replayed = Open + Queued + Spooled + Exported + Rejected + lost
//
// so that a lost span is seen in the figures, not in the absence of a trace.
//
// Nothing here waits for the service: a span that does not fit is counted and
// dropped. The bound is in bytes, because a count says nothing about memory.
// Content may take half of them; when that is full, spans lose their content
// first, so that a burst with large inputs keeps its shape.
//
// With a spool, spans wait in files and memory is where they go when a file
// cannot be written. The order stays the one in which spans ended: as long as
// memory holds any, later ones go there too.
package queue
