package stage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/scripts/internal/stage"
)

// clock moves on by a second a look.
func clock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func TestRunGoesOnAfterFailure(t *testing.T) {
	t.Parallel()
	var ran []string
	step := func(name string, err error) stage.Stage {
		return stage.Stage{Name: name, Run: func(context.Context, io.Writer) error {
			ran = append(ran, name)
			return err
		}}
	}
	var out bytes.Buffer
	ok := stage.Runner{Out: &out, Now: clock()}.Run(t.Context(), []stage.Stage{
		step("gofmt", nil), step("vet", errors.New("bad")), step("build", nil), step("tests", errors.New("worse")),
	})
	if ok {
		t.Error("Run reports success")
	}
	if diff := cmp.Diff([]string{"gofmt", "vet", "build", "tests"}, ran); diff != "" {
		t.Errorf("stages run (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(out.String(), "FAILED after 4s: vet, tests\n") || !strings.Contains(out.String(), "vet: bad\n") {
		t.Errorf("output:\n%s", &out)
	}
}

func TestRunPasses(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	pass := stage.Stage{Name: "vet", Run: func(context.Context, io.Writer) error { return nil }}
	if !(stage.Runner{Out: &out, Now: clock()}).Run(t.Context(), []stage.Stage{pass}) {
		t.Error("Run reports failure")
	}
	if !strings.HasSuffix(out.String(), "All stages passed in 1s.\n") {
		t.Errorf("output:\n%s", &out)
	}
}

func TestRunStopsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	first := stage.Stage{Name: "first", Run: func(context.Context, io.Writer) error { cancel(); return nil }}
	second := stage.Stage{Name: "second", Run: func(context.Context, io.Writer) error {
		t.Error("second ran after the interruption")
		return nil
	}}
	var out bytes.Buffer
	if (stage.Runner{Out: &out, Now: clock()}).Run(ctx, []stage.Stage{first, second}) {
		t.Error("Run reports success although a stage did not run")
	}
}
