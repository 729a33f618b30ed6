// Command fakesmith serves the fake LangSmith of our tests with a few hundred
// runs, so that real clients can be held against it: scripts/peers. It prints
// its address and ends when stdin does.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
)

// What the client under test has to find.
const (
	key     = "lsv2_pt_peer"
	project = "aaaaaaaa-0000-4000-8000-000000000001"
	roots   = 250
)

func main() {
	s := fakesmith.New(fakesmith.Options{Key: key, Workspace: "11111111-2222-4333-8444-555555555555"})
	for i := range 130 {
		s.AddProject(fakesmith.Project{ID: fmt.Sprintf("%08x-0000-4000-8000-000000000009", i), Name: fmt.Sprintf("project %03d", i), Start: time.Now().Add(-time.Hour)})
	}
	for i := range roots {
		s.Add(runs(i)...)
	}
	fmt.Println(s.URL)
	_, err := io.Copy(io.Discard, os.Stdin)
	s.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakesmith:", err)
		os.Exit(1)
	}
}

// runs is a root of i/2 hours ago with one child. The newest goes on.
func runs(i int) []*fakesmith.Run {
	start := time.Now().Add(-time.Duration(i) * 30 * time.Minute).UTC().Truncate(time.Millisecond)
	id, child := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), fmt.Sprintf("%08x-0001-4000-8000-000000000000", i)
	order := start.Format("20060102T150405000000Z") + id
	root := &fakesmith.Run{
		ID: id, TraceID: id, Order: order, Name: "agent", Type: "chain", Start: start, End: start.Add(time.Second), ProjectID: project,
		Inputs: json.RawMessage(`{"question":"q"}`), Outputs: json.RawMessage(`{"answer":"a"}`), In: 3, Out: 4, Cost: "0.00021",
		Metadata: json.RawMessage(`{"thread_id":"t"}`), Tags: []string{"peer"},
	}
	if i == 0 {
		root.End = time.Time{}
	}
	return []*fakesmith.Run{root, {
		ID: child, TraceID: id, Parents: []string{id}, Order: order + "." + child, Name: "chat", Type: "llm", ProjectID: project,
		Start: start.Add(time.Millisecond), End: start.Add(time.Second), Inputs: json.RawMessage(`{}`),
	}}
}
