// Package spool keeps encoded spans in files until the service has them, so
// that they outlive the process that made them.
//
// A record is in the file when Append returns: written, not synced. That holds
// when the process is killed, not when the machine loses power.
//
//   - A folder holds slots, and a process locks one, so that processes of the
//     same program may share a folder. Opening takes over what processes that
//     are gone left in the others.
//   - A slot holds segments, files of records with a length and a checksum. A
//     segment says of itself how far its spans were settled, and is removed when
//     all were. What follows a torn record is not read: after a kill that is at
//     most the record that was being written.
//   - Spans are read in the order in which they were appended, a batch at a time.
//     A process that dies between the service's answer and Done leaves one batch
//     that is sent again; the service knows spans by their ids.
//
// Only redacted spans come here.
package spool
