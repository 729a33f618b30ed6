// Package local finds, starts, uses and stops the service on this machine.
//
// The service is a daemon that belongs to one data directory: it holds a lock
// on the directory while it lives, writes service.json when it is ready to
// answer, and keeps the owner's token in a private file beside it. service.json
// may be left over from a crash, so it counts only when its process lives and
// answers. The daemon's lock is never probed from here: even a probe that lasts
// an instant could make a daemon that starts in that instant give up.
//
// A port outlives its process, so no request goes over a connection before the
// other end of it has proved that it knows the owner's token.
//
// Nothing of the caller leaks into a started service: it gets its own session,
// no standard input, and a log of its own.
package local
