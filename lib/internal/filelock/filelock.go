// Package filelock is a lock between processes. It is a file that is never
// renamed or removed, and the lock ends with the process that holds it, however
// that ends.
package filelock

import "time"

// pause is the time between two tries for a lock that another process holds.
const pause = 20 * time.Millisecond
