package engine

// maxIdle bounds the goroutines that wait for work.
const maxIdle = 256

// crew runs functions beside others, in goroutines that it keeps: a call
// reaches deep into the HTTP client, and growing a new stack for each costs a
// twentieth of all that a call costs.
type crew struct {
	work  chan func()
	slots chan struct{} // one for each goroutine that may wait
	done  <-chan struct{}
}

func newCrew(done <-chan struct{}) *crew {
	return &crew{work: make(chan func()), slots: make(chan struct{}, maxIdle), done: done}
}

// spawn runs f, and returns at once.
func (c *crew) spawn(f func()) {
	select {
	case c.work <- f:
	default:
		go c.run(f)
	}
}

func (c *crew) run(f func()) {
	for f != nil {
		f()
		f = c.wait()
	}
}

// wait gives the next function, or nil when none is to be waited for.
func (c *crew) wait() (f func()) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	default:
		return nil
	}
	select {
	case f = <-c.work:
	case <-c.done:
	}
	return f
}
