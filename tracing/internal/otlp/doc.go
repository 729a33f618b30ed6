// Package otlp writes spans in the wire format of OTLP, and reads the service's
// answer.
//
// The messages are those of go.opentelemetry.io/proto/otlp, with which the
// tests read them back. They are written field by field all the same: filling
// the generated structs costs some 40 allocations a span in the program that is
// being observed, and links reflection into it. Only the numbers of fields are
// taken from the definition, and they cannot change.
//
// A span is written once. What may come later (content, which is redacted when
// it is sent) is appended to it: a message is the concatenation of its fields,
// in any order.
package otlp
