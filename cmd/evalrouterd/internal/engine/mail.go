package engine

import "sync"

// Mail is where a runner waits. Put never blocks; Take blocks until there is
// a message and gives all there are, in order. One goroutine takes.
type Mail interface {
	Put(Message)
	Take() []Message
}

// Message is what a runner is told: that a task has settled, that a provider
// pushed back, that there is a place for another task, that tasks were read, or, when it is
// empty, that it should look around: its run's row has changed, a wait is over, or
// the engine stops.
type Message struct {
	settled  *settled
	overload bool
	// answered says that a task in flight is only to be recorded any more.
	answered bool
	// place says that there is a place for another task.
	place bool
	// read is set when tasks were read ahead.
	read *tasksRead
	// fenced says that another process has taken the run over.
	fenced bool
}

// poke is the empty message.
var poke = Message{}

// queueMail is Mail between goroutines.
type queueMail struct {
	mu    sync.Mutex
	some  sync.Cond
	queue []Message
}

func newMail() Mail {
	m := &queueMail{}
	m.some.L = &m.mu
	return m
}

// Put implements Mail.
func (m *queueMail) Put(x Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, x)
	m.some.Signal()
}

// Take implements Mail.
func (m *queueMail) Take() []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) == 0 {
		m.some.Wait()
	}
	all := m.queue
	m.queue = nil
	return all
}
