// Package api is the HTTP contract as Go types: what the service sends and
// what it accepts, and nothing else.
//
// Part A of the contract belongs to clients that exist already, so names and
// shapes here are facts, not choices: a field marked optional there has
// omitempty here, a field that may be null is a pointer without omitempty,
// money is usd.Micro (a decimal string of micro-dollars on the wire), and
// times are RFC 3339 in UTC. Fields that only this service sends come after
// the known ones of their record. Readers must ignore fields they do not
// know; the service refuses fields that it does not know.
//
// Codes (code.go) are the one vocabulary of failures in every process of the
// product: the service emits them, the client carries them, and the command
// line turns them into exit codes and next steps.
package api
