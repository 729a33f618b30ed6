package kittest

import "github.com/gdamore/tcell/v2"

// simulated is a terminal that is blank after it was cleared, as all are. The
// library's own fills itself with a sign then, to show who relies on the clearing;
// the workspace does, and a test of its bytes holds that.
type simulated struct{ tcell.SimulationScreen }

// LockRegion does nothing: a cell that is left alone would keep the sign.
func (simulated) LockRegion(int, int, int, int, bool) {}

// NewScreen is a simulated terminal.
func NewScreen() tcell.SimulationScreen { return simulated{tcell.NewSimulationScreen("UTF-8")} }
