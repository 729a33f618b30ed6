package term

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
	xterm "golang.org/x/term"
)

// ErrDeclined is the answer of a person who left a question: Ctrl-C, Ctrl-D,
// Escape, a closed terminal.
var ErrDeclined = errors.New("left without an answer")

// Ask reads one line. The prompt goes to Err.
func (t *Term) Ask(ctx context.Context, prompt string) (string, error) {
	if _, err := io.WriteString(t.Err, string(plain.Line(prompt))); err != nil {
		return "", err
	}
	line, err := answer(ctx, t, func() (string, error) { return readLine(t.In) })
	if errors.Is(err, ErrDeclined) {
		_, _ = io.WriteString(t.Err, "\n") // what follows must not stand behind the prompt
	}
	return line, err
}

// AskSecret reads one line without showing it. It needs a terminal.
func (t *Term) AskSecret(ctx context.Context, prompt string) (string, error) {
	if t.Raw == nil {
		return "", errors.ErrUnsupported
	}
	restore, err := t.Raw()
	if err != nil {
		return "", err
	}
	console := xterm.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.In, t.Err}, "")
	s, err := answer(ctx, t, func() (string, error) { return console.ReadPassword(string(plain.Line(prompt))) })
	return s, errors.Join(err, restore())
}

// Pause keeps what is on the screen in view until Enter, Escape or Left. A simple
// terminal waits for Enter. Whatever ends it is a way back, not an error.
func (t *Term) Pause(ctx context.Context, prompt string) error {
	if t.Simple() {
		_, err := t.Ask(ctx, prompt)
		return err
	}
	restore, err := t.Raw()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(t.Err, string(plain.Line(prompt))); err != nil {
		return errors.Join(err, restore())
	}
	_, err = answer(ctx, t, func() (bool, error) {
		for {
			k, err := readKey(t.In)
			if err != nil || k == keyEnter || k == keyLeave || k == keyLeft {
				return true, err
			}
		}
	})
	_, _ = io.WriteString(t.Err, "\r\n")
	return errors.Join(err, restore())
}

// Confirm asks for a decision to spend. The cursor stands on the second
// option, what was typed before the question does not count, and only Enter on
// the first option is a yes. A simple terminal asks for a word instead.
func (t *Term) Confirm(ctx context.Context, title, yes, no, word string) (bool, error) {
	if t.Simple() {
		return t.confirmWord(ctx, title, word)
	}
	restore, err := t.Raw()
	if err != nil {
		return t.confirmWord(ctx, title, word)
	}
	ok, err := answer(ctx, t, func() (bool, error) { return t.choose(title, yes, no) })
	return ok, errors.Join(err, restore())
}

func (t *Term) confirmWord(ctx context.Context, title, word string) (bool, error) {
	line, err := t.Ask(ctx, title+" Type "+word+" to say yes: ")
	return strings.TrimSpace(line) == word, err
}

// choose draws two options and reads keys until one is taken.
func (t *Term) choose(title, yes, no string) (bool, error) {
	draw := func(first bool, again bool) error {
		marks := [2]string{"    ", "  > "}
		if first {
			marks = [2]string{"  > ", "    "}
		}
		text := string(plain.Line(title)) + "\r\n"
		if again {
			text = "\x1b[2A"
		}
		_, err := io.WriteString(t.Err, text+"\r"+marks[0]+yes+"\r\n\r"+marks[1]+no+"\r\n")
		return err
	}
	first := false
	if err := draw(first, false); err != nil {
		return false, err
	}
	for {
		k, err := readKey(t.In)
		if err != nil {
			return false, err
		}
		switch k {
		case keyUp:
			first = true
		case keyDown:
			first = false
		case keyToggle:
			first = !first
		case keyEnter:
			return first, nil
		case keyLeave:
			return false, ErrDeclined
		case keyOther, keySpace, keyLeft:
			continue
		}
		if err := draw(first, true); err != nil {
			return false, err
		}
	}
}

type key int

const (
	keyOther key = iota
	keyUp
	keyDown
	keyToggle
	keySpace
	keyLeft
	keyEnter
	keyLeave
)

// readKey reads one key. A paste is many keys at once; only its first counts,
// so that no text in a clipboard can walk to "yes".
func readKey(r io.Reader) (key, error) {
	buf := make([]byte, 64)
	n, err := r.Read(buf)
	if n == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			err = ErrDeclined
		}
		return keyOther, err
	}
	switch string(buf[:n]) {
	case "\x1b[A", "\x1bOA", "k":
		return keyUp, nil
	case "\x1b[B", "\x1bOB", "j":
		return keyDown, nil
	case "\t":
		return keyToggle, nil
	case " ":
		return keySpace, nil
	case "\x1b[D", "\x1bOD":
		return keyLeft, nil
	case "\r", "\n":
		return keyEnter, nil
	case "\x03", "\x04", "\x1b", "q":
		return keyLeave, nil
	}
	return keyOther, nil
}

// readLine reads byte by byte, so that nothing behind the line is swallowed.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < 4096 {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, one[:n]...)
		if err != nil {
			// A line that its writer did not finish is no answer.
			return "", ErrDeclined
		}
	}
	return "", ErrDeclined
}

// answer waits for a read or for the end of ctx. A read that is waiting for a
// key cannot be called back, so after the end of ctx it stays behind until the
// process ends, which a declined question leads to.
func answer[T any](ctx context.Context, t *Term, read func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		if errors.Is(err, io.EOF) {
			err = ErrDeclined
		}
		done <- result{v, err}
	}()
	select {
	case <-ctx.Done():
		t.Abandoned = true
		var none T
		return none, ErrDeclined
	case r := <-done:
		return r.v, r.err
	}
}
