package fakesmith

import (
	"encoding/json"
	"strings"
	"time"
)

// fieldsV2 are the names that version 2 selects by, with the member of each.
var fieldsV2 = map[string]string{
	"ID": "id", "TRACE_ID": "trace_id", "NAME": "name", "RUN_TYPE": "run_type", "STATUS": "status", "START_TIME": "start_time",
	"END_TIME": "end_time", "FIRST_TOKEN_TIME": "first_token_time", "ERROR": "error", "METADATA": "metadata", "INPUTS": "inputs",
	"OUTPUTS": "outputs", "PARENT_RUN_IDS": "parent_run_ids", "PROJECT_ID": "project_id", "DOTTED_ORDER": "dotted_order",
	"IS_ROOT": "is_root", "TOTAL_TOKENS": "total_tokens", "PROMPT_TOKENS": "prompt_tokens", "COMPLETION_TOKENS": "completion_tokens",
	"TOTAL_COST": "total_cost", "TAGS": "tags", "EXTRA": "extra", "SHARE_URL": "share_url", "ATTACHMENTS": "attachments", "MANIFEST": "manifest",
}

func known(selects []string) *problem {
	for _, f := range selects {
		if fieldsV2[f] == "" {
			return &problem{422, "unknown field in selects"}
		}
	}
	return nil
}

// v2 is the run as version 2 writes it: only the id unless more is selected.
func (x *Run) v2(selects []string, now time.Time) map[string]any {
	if len(selects) == 0 {
		selects = []string{"ID"}
	}
	const layout = "2006-01-02T15:04:05.000000Z"
	all := x.members(layout, now)
	all["status"] = strings.ToUpper(all["status"].(string))
	all["run_type"] = strings.ToUpper(x.Type)
	all["parent_run_ids"] = append([]string{}, x.Parents...)
	all["metadata"] = raw(x.Metadata)
	if x.Cost != "" {
		all["total_cost"] = json.Number(x.Cost)
	}
	out := map[string]any{}
	for _, f := range selects {
		if v, ok := all[fieldsV2[f]]; ok {
			out[fieldsV2[f]] = v
		}
	}
	return out
}

// v1 is the run as version 1 writes it: times without a zone, cost as text.
func (x *Run) v1(selects []string, now time.Time) map[string]any {
	all := x.members("2006-01-02T15:04:05.000000", now)
	all["parent_run_id"] = nil
	if n := len(x.Parents); n > 0 {
		all["parent_run_id"] = x.Parents[n-1]
	}
	all["extra"] = map[string]any{"metadata": raw(x.Metadata), "runtime": map[string]any{"sdk": "fake"}}
	if x.Cost != "" {
		all["total_cost"] = x.Cost
	}
	if len(selects) == 0 {
		return all
	}
	out := map[string]any{"id": x.ID}
	for _, f := range selects {
		if v, ok := all[f]; ok {
			out[f] = v
		}
	}
	return out
}

func (x *Run) members(layout string, now time.Time) map[string]any {
	m := map[string]any{
		"id": x.ID, "trace_id": x.TraceID, "name": x.Name, "run_type": x.Type, "dotted_order": x.Order, "project_id": x.ProjectID,
		"session_id": x.ProjectID, "is_root": len(x.Parents) == 0, "start_time": x.Start.UTC().Format(layout), "end_time": nil, "error": nil,
		"status": "pending", "inputs": raw(x.Inputs), "outputs": nil, "tags": append([]string{}, x.Tags...), "first_token_time": nil,
		"share_url": "https://share.invalid/secret-link", "attachments": map[string]string{"a": "https://files.invalid/signed"},
		"manifest": map[string]string{"api_key": "in the manifest"},
	}
	if x.End.IsZero() || now.Before(x.Closed) {
		return m
	}
	m["end_time"], m["status"], m["outputs"] = x.End.UTC().Format(layout), "success", raw(x.Outputs)
	m["prompt_tokens"], m["completion_tokens"], m["total_tokens"] = x.In, x.Out, x.In+x.Out
	if x.Error != "" {
		m["status"], m["error"] = "error", x.Error
	}
	return m
}

func raw(b json.RawMessage) any {
	if len(b) == 0 {
		return nil
	}
	return b
}
