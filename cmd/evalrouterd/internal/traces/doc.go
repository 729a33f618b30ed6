// Package traces takes in what agents did: it decides what a connection may
// bring, redacts and bounds it, and hands it to the store. It declares what it
// keeps; the daemon joins it with the store.
//
// Nothing is acknowledged before it is committed. What came twice is kept once.
// Content is redacted here whatever its sender has done before, by the rules of
// lib/redact and the fields that the connection names.
package traces
