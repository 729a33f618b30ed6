//go:build !unix

package signin

import "io/fs"

// foreign is not known here; the profile directory belongs to its user.
func foreign(fs.FileInfo) bool { return false }
