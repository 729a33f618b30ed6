// Pages the fake LangSmith with the real client and fails loudly if anything is
// missing, doubled or of another shape than the client's own types say.
import assert from "node:assert/strict";
import { Client } from "langsmith";

const url = process.argv[2];
const project = "aaaaaaaa-0000-4000-8000-000000000001";
const workspaceId = "11111111-2222-4333-8444-555555555555";
const client = new Client({ apiUrl: url, apiKey: "lsv2_pt_peer", workspaceId });
const hours = (n) => new Date(Date.now() - n * 3600_000).toISOString();

const collect = async (list) => {
  const out = [];
  for await (const x of list) out.push(x);
  return out;
};

// Version 2, paged.
const all = await collect(
  client.runs.queryV2({
    project_ids: [project], is_root: true, page_size: 60, min_start_time: hours(200), max_start_time: hours(-1),
    selects: ["ID", "TRACE_ID", "STATUS", "START_TIME", "END_TIME", "IS_ROOT", "NAME", "TOTAL_TOKENS"],
  }),
);
assert.equal(all.length, 250, "roots of version 2");
assert.equal(new Set(all.map((r) => r.id)).size, 250, "roots of version 2 are distinct");
assert.ok(all.every((r, i) => i === 0 || r.start_time <= all[i - 1].start_time), "the newest come first");
assert.equal(all[0].status, "PENDING");
assert.equal(all[0].end_time, null);
assert.equal(all[1].status, "SUCCESS");
assert.equal(all[1].total_tokens, 7);
console.log(`v2 runs/query: ${all.length} roots, paged`);

// What is not asked for is not there, and the window is a day.
const plain = await collect(client.runs.queryV2({ project_ids: [project], is_root: true }));
assert.ok(plain.length >= 48 && plain.length <= 49, `the last 24 hours, not ${plain.length} roots`);
assert.deepEqual(Object.keys(plain[0]), ["id"], "ids only");
console.log(`v2 defaults: ${plain.length} roots of the last 24 hours, ids only`);

// One trace.
const tree = await client.traces.listRuns(all[5].id, {
  project_id: project, selects: ["ID", "PARENT_RUN_IDS", "DOTTED_ORDER", "RUN_TYPE", "METADATA", "TOTAL_COST", "INPUTS"],
});
assert.equal(tree.items.length, 2);
assert.deepEqual(tree.items[1].parent_run_ids, [all[5].id]);
assert.equal(tree.items[1].run_type, "LLM");
assert.equal(typeof tree.items[0].total_cost, "number");
assert.ok(tree.items[0].dotted_order.length > 30);
console.log("v2 traces/{id}/runs: root and child");

// Version 1, paged by the old client.
const old = await collect(client.listRuns({ projectId: project, isRoot: true }));
assert.equal(old.length, 250, "roots of version 1");
assert.equal(new Set(old.map((r) => r.id)).size, 250);
assert.equal(old[1].status, "success");
console.log(`v1 runs/query: ${old.length} roots, paged`);

// Projects.
const projects = await collect(client.listProjects());
assert.equal(projects.length, 130, "projects of version 1");
console.log(`v1 sessions: ${projects.length} projects`);

// Refusals arrive as the client's own errors.
await assert.rejects(async () => collect(client.runs.queryV2({ project_ids: [project], page_size: 1001 })), /422|page_size/);
await assert.rejects(async () => collect(client.listRuns({ projectId: project, limit: 101 })), /maximum allowed value of 100/);
const stranger = new Client({ apiUrl: url, apiKey: "wrong", workspaceId });
await assert.rejects(async () => collect(stranger.runs.queryV2({ project_ids: [project] })), /401|Invalid token/);
console.log("refusals: pages of 1,001 and of 101, and a wrong key");
