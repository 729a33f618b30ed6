// Package fakesmith imitates LangSmith's query interface, and the importing
// side of EvalRouter, for tests.
//
// Server keeps the habits that lose data in real clients: version 2 answers
// with the last 24 hours and with ids only unless told otherwise, lists the
// newest first and refuses pages of more than 1,000; version 1 refuses more
// than 100 and ignores every filter when ids are given. It refuses fields and
// values that the real interface does not have, so that a typing error cannot
// pass for a filter. The real npm client pages it correctly: scripts/peers.
//
// Sink refuses whatever is no valid import and recomputes every digest.
package fakesmith
