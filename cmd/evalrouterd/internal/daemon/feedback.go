package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// feedbackShown is how many reports the operator sees at once.
const feedbackShown = 200

// feedbackListCommand prints reports, a JSON document a line with --json. They
// are strangers' words and reach the terminal cleaned.
func feedbackListCommand(f *flagSet) action {
	data, asJSON := f.data(), f.toggle("json", "one JSON document a line, with everything that was said")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			all, err := o.store.Feedback().All(ctx, feedbackShown)
			if err != nil {
				return err
			}
			for _, r := range all {
				if *asJSON {
					doc, err := json.Marshal(map[string]any{
						"id": r.ID, "workspace_id": r.Workspace, "actor": r.Actor, "kind": r.Kind, "severity": r.Severity, "summary": r.Summary, "details": r.Details,
						"context": json.RawMessage(r.Context), "contact_ok": r.ContactOK, "status": r.Status, "duplicate_of": r.DuplicateOf,
						"created_at": time.UnixMicro(int64(r.CreatedAt)).UTC(),
					})
					if err != nil {
						return fmt.Errorf("write feedback %s: %w", r.ID, err)
					}
					fmt.Fprintf(sys.Stdout, "%s\n", plain.JSON(doc))
					continue
				}
				fmt.Fprintf(sys.Stdout, "%s  %-9s %-12s %s\n", r.ID, r.Status, r.Severity, plain.Line(r.Kind+": "+r.Summary))
			}
			if len(all) == 0 {
				fmt.Fprintln(sys.Stderr, "Nobody has said anything.")
			}
			return nil
		})
	}
}

func feedbackMarkCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		if !slices.Contains([]string{"received", "triaged", "resolved", "declined"}, operands[1]) {
			return refuse("invalid_input", "a status is received, triaged, resolved or declined; nothing was changed")
		}
		return withData(ctx, at, func(o *open) error {
			if err := o.store.Feedback().Mark(ctx, operands[0], operands[1]); err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "%s is %s\n", operands[0], operands[1])
			return nil
		})
	}
}
