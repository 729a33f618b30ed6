package private

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Abandon gives up sources of all workspaces that were announced at or before a
// time and are not whole yet, and drops their bytes. It returns how many.
func (st *Store) Abandon(ctx context.Context, announced core.Micros) (int, error) {
	for n := 0; ; n++ {
		var id core.SourceID
		var found int
		err := st.db.QueryRowContext(ctx, `SELECT count(*), coalesce(min(id), '') FROM benchmark_sources WHERE status = 'pending' AND received < bytes AND created_at <= $1`, int64(announced)).Scan(&found, &id)
		if err != nil || found == 0 {
			return n, err
		}
		err = st.ask(ctx, func(t Tx) error {
			// One that became whole meanwhile, or was archived, is left alone.
			moved, err := t.Exec(`UPDATE benchmark_sources SET status = 'failed', error_code = $1, reason = $2 WHERE id = $3 AND status = 'pending' AND received < bytes`,
				core.UploadAbandoned, "the upload was not completed in time, and what had come was dropped; announce the file again", string(id))
			if err != nil || moved == 0 {
				return err
			}
			return dropChunks(t, id)
		})
		if err != nil {
			return n, fmt.Errorf("give up source %s: %w", id, err)
		}
	}
}
