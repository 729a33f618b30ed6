-- Makes of a finished run of n tasks one of a hundred times as many, in the
-- database of a service that does not run. No benchmark may have a million tasks,
-- so that no run can bring them; what is read and written for each is the same.
PRAGMA synchronous = OFF;
PRAGMA cache_size = -400000;
BEGIN;
CREATE TEMP TABLE k AS WITH RECURSIVE c(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM c WHERE k < 99) SELECT k FROM c;
CREATE TEMP TABLE n AS SELECT num AS run, planned AS n FROM runs;
INSERT INTO tasks SELECT profile_id, pos + k * n, task_id || '-' || k, doc FROM k, n, tasks WHERE profile_id = 'sums@1' AND pos < n ORDER BY k, pos;
INSERT INTO samples (run, idx, task_id, state, outcome, origin, max_cost, attempt, charge, score, extracted, span_from, span_to, rule, grader, grader_compat, code, started_at, ended_at)
  SELECT s.run, idx + k * n, task_id || '-' || k, state, outcome, origin, max_cost, attempt, charge, score, extracted, span_from, span_to, rule, grader, grader_compat, code, started_at, ended_at
  FROM k, n, samples s WHERE s.run = n.run AND idx < n ORDER BY k, idx;
INSERT INTO blobs SELECT b.call_id || printf('-%02d', k), hash, size, codec, data, b.expires_at FROM k, blobs b ORDER BY b.call_id, k;
INSERT INTO calls (id, run, idx, kind, part, attempt, state, live, worker, fence, lease_until, reserved, spent, request_hash, usage_doc, finish, provider_request_id, outcome, message, created_at, sent_at, ended_at, nonce)
  SELECT id || printf('-%02d', k), c.run, idx + k * n, kind, part, attempt, state, live, worker, fence, lease_until, reserved, spent, request_hash, usage_doc, finish, provider_request_id, outcome, message, created_at, sent_at,
    ended_at, nonce FROM k, n, calls c WHERE c.run = n.run AND idx < n ORDER BY k, idx;
UPDATE profiles SET task_count = task_count * 100, doc = json_set(doc, '$.task_count', task_count * 100) WHERE id = 'sums@1';
UPDATE quotes SET doc = json_set(doc, '$.profile.task_count', (SELECT n * 100 FROM n), '$.coverage.n', (SELECT n * 100 FROM n));
UPDATE results SET doc = json_set(doc, '$.planned', (SELECT n * 100 FROM n), '$.outcomes.right', json_extract(doc, '$.outcomes.right') * 100, '$.outcomes.wrong', json_extract(doc, '$.outcomes.wrong') * 100);
UPDATE runs SET planned = planned * 100;
COMMIT;
