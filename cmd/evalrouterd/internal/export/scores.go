package export

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// scoreLine is a task as statistics need it: what paired tests take and nothing
// that a model said.
type scoreLine struct {
	TaskID  string   `json:"task_id"`
	Attempt int      `json:"attempt"`
	Score   *float64 `json:"score"` // null where the task was not graded
	Outcome string   `json:"outcome"`
	Cluster string   `json:"cluster"` // tasks that are alike, "" for none
}

// Scores writes one JSON object a planned task, in the run's order. The same run
// gives the same bytes.
func (s Source) Scores(ctx context.Context, r Run, out io.Writer) error {
	w, tasks := bufio.NewWriterSize(out, 64<<10), s.Reader(r)
	for row, err := range s.Brief(ctx, r) {
		if err != nil {
			return err
		}
		task, err := tasks.Task(ctx, row.Idx)
		if err != nil {
			return fmt.Errorf("read task %d: %w", row.Idx, err)
		}
		line, err := json.Marshal(scoreLine{TaskID: row.TaskID, Attempt: row.Attempt, Score: row.Score, Outcome: string(row.Outcome), Cluster: task.Group})
		if err != nil {
			return fmt.Errorf("write scores: %w", err)
		}
		w.Write(plain.JSON(line))
		w.WriteByte('\n')
	}
	return w.Flush()
}
