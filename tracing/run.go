package tracing

import "context"

// Agent runs fn as a run of an agent and returns its error unchanged.
func (c *TraceCapture) Agent(ctx context.Context, name string, fn func(context.Context, *Span) error) error {
	if c == nil {
		return fn(ctx, nil)
	}
	return c.run(ctx, Agent(name), fn)
}

// Model runs fn as a call to a model and returns its error unchanged.
func (c *TraceCapture) Model(ctx context.Context, provider, model string, fn func(context.Context, *Span) error) error {
	if c == nil {
		return fn(ctx, nil)
	}
	return c.run(ctx, Model(provider, model), fn)
}

// Tool runs fn as a call to a tool and returns its error unchanged.
func (c *TraceCapture) Tool(ctx context.Context, name string, fn func(context.Context, *Span) error) error {
	if c == nil {
		return fn(ctx, nil)
	}
	return c.run(ctx, Tool(name), fn)
}

func (c *TraceCapture) run(ctx context.Context, step Step, fn func(context.Context, *Span) error) error {
	_, err := Do(ctx, c, step, func(ctx context.Context, s *Span) (struct{}, error) { return struct{}{}, fn(ctx, s) })
	return err
}

// Do runs fn as a step and returns what it returns. A panic ends the span with
// its type, not its text, and goes on with the same value; runtime.Goexit ends
// the span as well. The function is one of the package because a method cannot
// have a type parameter.
func Do[T any](ctx context.Context, c *TraceCapture, step Step, fn func(context.Context, *Span) (T, error)) (T, error) {
	ctx, s := c.Start(ctx, step)
	if s == nil {
		return fn(ctx, nil)
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != nil {
			s.panicked(p)
			s.finish()
			panic(p)
		}
		s.exited()
		s.finish()
	}()
	out, err := fn(ctx, s)
	returned = true
	s.conclude(err)
	return out, err
}
