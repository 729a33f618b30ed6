// Package kit is what screens are made of, and the only package that knows the
// terminal library.
//
// A screen is a value: Update takes a message and gives the next value with
// the effects that it wants, View draws into a Canvas. Screens start no
// goroutine, read no clock and touch no network; a Loop carries out their
// effects and brings the answers back as messages. So a screen can be tested
// with messages alone, and two of them can live in one process.
//
// A Canvas takes plain.Safe text only. Model answers, names and error texts
// reach the terminal through plain.Line or plain.Block or not at all.
package kit
