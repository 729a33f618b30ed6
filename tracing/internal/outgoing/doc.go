// Package outgoing turns an ended span into the bytes that may leave the
// process: nothing gets past it that was not redacted and bounded.
//
// Most of a span is written when it ends, in the goroutine that ended it. That
// costs less than keeping the span for later would, frees the memory of the span
// and makes the size of what waits exact. Long texts and content are the
// exception, because redacting them takes a hundred times as long: Make hands
// them out as Late parts, and Finish writes them, in the goroutine that sends.
//
// Everything fails closed. A field with a sensitive name, a text that holds a
// credential, content whose redaction failed or panicked: each is replaced by a
// mark, never passed on.
package outgoing
