package bundle_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
)

// A grader reads an answer by the rule of its kind. The verdict says what was
// taken as the answer, where it stands, and why it counts.
func Example() {
	grader, err := families.Grader(bundle.GraderConfig{Kind: "numeric", Options: json.RawMessage(`{}`)})
	if err != nil {
		panic(err)
	}
	task := bundle.Task{ID: "hours", Input: []bundle.Message{{Role: "user", Text: "How many minutes are in two hours?"}}, Target: []string{"120"}}
	for _, text := range []string{"Two hours are 60 + 60 minutes.\nANSWER: 120", "ANSWER: 12", "I would rather not say.", ""} {
		verdict, err := grader.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-18s %q\n", verdict.Outcome, verdict.Extracted)
	}
	// Output:
	// right              "120"
	// wrong              "12"
	// extraction_failed  ""
	// empty              ""
}

// The manifest of a data set says how each of its rows becomes a task.
func ExampleReadManifest() {
	_, err := bundle.ReadManifest(strings.NewReader(`{"id": "capitals"}`))
	fmt.Println(err != nil) // a field that must be there is missing
	// Output: true
}
