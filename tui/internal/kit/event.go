package kit

import (
	"time"

	"github.com/gdamore/tcell/v2"
)

func keyNames() map[tcell.Key]Key {
	return map[tcell.Key]Key{
		tcell.KeyEnter: Enter, tcell.KeyTab: Tab, tcell.KeyBacktab: BackTab, tcell.KeyEscape: Esc,
		tcell.KeyUp: Up, tcell.KeyDown: Down, tcell.KeyLeft: Left, tcell.KeyRight: Right,
		tcell.KeyPgUp: PgUp, tcell.KeyPgDn: PgDn, tcell.KeyHome: Home, tcell.KeyEnd: End,
		tcell.KeyBackspace: Backspace, tcell.KeyBackspace2: Backspace, tcell.KeyDelete: Delete,
		tcell.KeyF1: F1, tcell.KeyF5: Refresh, tcell.KeyCtrlR: Refresh, tcell.KeyCtrlA: CtrlA,
		tcell.KeyCtrlC: CtrlC, tcell.KeyCtrlL: CtrlL, tcell.KeyCtrlQ: CtrlQ, tcell.KeyCtrlU: CtrlU, tcell.KeyCtrlZ: CtrlZ,
	}
}

func pressOf(e *tcell.EventKey, now time.Time) Press {
	if e.Key() == tcell.KeyRune {
		if e.Modifiers()&(tcell.ModAlt|tcell.ModCtrl|tcell.ModMeta) != 0 {
			return Press{Key: Unknown, At: now} // Escape and the next key arrive as Alt+key
		}
		return Press{Key: Char, Rune: e.Rune(), At: now}
	}
	if k, ok := keyNames()[e.Key()]; ok {
		return Press{Key: k, At: now}
	}
	return Press{Key: Unknown, At: now}
}

func mouseOf(e *tcell.EventMouse, now time.Time) Msg {
	x, y := e.Position()
	m := Mouse{X: x, Y: y, At: now}
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		m.Kind = WheelUp
	case b&tcell.WheelDown != 0:
		m.Kind = WheelDown
	case b&tcell.Button1 != 0:
		m.Kind = Click // the loop tells a drag from a click by what came before
	default:
		m.Kind = Release
	}
	return m
}
