//go:build !linux && !darwin

package term

import "errors"

// discardInput cannot be done here, so that single keys are not used and the
// typed word stands in for them.
func discardInput(int) error { return errors.ErrUnsupported }
