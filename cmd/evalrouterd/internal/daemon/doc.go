// Package daemon is the service as a process: its commands, its data
// directory, its start and its end. It joins the parts that know nothing of
// each other.
//
// The decisions behind it:
//
//   - Whoever makes provider calls must be alone in a data directory, for it
//     settles the calls of its dead predecessor. The lock file says who that
//     is; serve and local take it, and a second one ends with status 2.
//   - Everything else may share the directory with a running daemon. SQLite
//     serialises writers of several processes, and benchmarks, credit and keys
//     are read from the database at each use. So catalog add, credits grant,
//     keys create and audit work at any time, on a living directory too.
//   - Only serve, local and catalog add begin an installation; every other
//     command refuses a directory without one, which is a mistyped path.
//   - A master key is made only while nothing was sealed with another. One that
//     is lost stops the start until it is put back or given up by name.
//   - Modes do not depend on the umask: the directory is 0700 and every file
//     in it is 0600.
//   - On SIGTERM no new call begins and those in flight are waited for, up to
//     the grace; a second signal ends the wait. A call that is cut off there
//     becomes unknown at the next start and is never made again by itself.
package daemon
