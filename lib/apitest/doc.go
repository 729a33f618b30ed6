// Package apitest has a fake service that keeps the HTTP contract.
//
// Package exercise is a suite for any running service. It is run against the
// Fake in this package and against the real service, so that what is tested with
// the fake is true of both. The records of the contract stand in package contract
// as text, apart from the Go types, and are checked member by member.
//
// The Fake is a whole small service in memory: quotes with real arithmetic,
// runs that progress with its clock, results and exports that follow from
// them. Tests of clients use it together with its faults: failing requests,
// lost answers, counts of what was sent. It answers from its own rules and
// grades nothing; its figures mean nothing.
package apitest
