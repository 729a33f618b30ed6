// One run of an agent as real exporters send it: OTLP as protobuf with gzip, OTLP
// as JSON, Langfuse, and each PEER, a program that is given ORIGIN and INGEST_KEY.
// Fails unless the service makes the same tree of each.
//   node agent.mjs ORIGIN INGEST_KEY OWNER_TOKEN [NAME=PEER...]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as HTTP } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as Proto } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { LangfuseSpanProcessor } from "@langfuse/otel";
import { setLangfuseTracerProvider, startObservation } from "@langfuse/tracing";

const [origin, key, owner, ...others] = process.argv.slice(2);
const question = [{ role: "user", content: "What is 6 times 7?" }];
const call = { a: 6, b: 7 };

// The run in the conventions of OpenTelemetry for generative AI.
async function conventions(exporter) {
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  const tracer = provider.getTracer("peer");
  const said = (messages) => JSON.stringify(messages.map((m) => ({ role: m.role, parts: [{ type: "text", content: m.content }] })));
  const step = (name, parent, attributes) => {
    const at = parent ? trace.setSpan(context.active(), parent) : context.active();
    return tracer.startSpan(name, { attributes }, at);
  };
  const model = (parent, output) => step("chat gpt-x", parent, {
    "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-x", "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 9,
    "gen_ai.input.messages": said(question), "gen_ai.output.messages": said([{ role: "assistant", content: output }]),
  });
  const root = step("support", null, { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support" });
  model(root, "I multiply.").end();
  step("multiply", root, { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "multiply", "gen_ai.tool.call.arguments": JSON.stringify(call), "gen_ai.tool.call.result": "42" }).end();
  model(root, "It is 42.").end();
  root.end();
  await provider.forceFlush();
  await provider.shutdown();
}

// The same run as Langfuse's own functions tell it.
async function langfuse() {
  const provider = new NodeTracerProvider({ spanProcessors: [new LangfuseSpanProcessor({ publicKey: "pk-lf-peer", secretKey: key, baseUrl: origin })] });
  setLangfuseTracerProvider(provider);
  const root = startObservation("support", {}, { asType: "agent" });
  const model = (output) => root.startObservation("chat gpt-x", { model: "gpt-x", input: question, output: [{ role: "assistant", content: output }], usageDetails: { input: 30, output: 9 } }, { asType: "generation" }).end();
  model("I multiply.");
  root.startObservation("multiply", { input: call, output: "42" }, { asType: "tool" }).end();
  model("It is 42.");
  root.end();
  await provider.forceFlush();
  await provider.shutdown();
}

const ask = async (path) => {
  const res = await fetch(origin + path, { headers: { authorization: `Bearer ${owner}` } });
  assert.equal(res.status, 200, `${path}: ${await res.clone().text()}`);
  return res.json();
};

const headers = { authorization: `Bearer ${key}` };
const url = `${origin}/v1/otlp/v1/traces`;
const peers = { "OTLP protobuf with gzip": () => conventions(new Proto({ url, headers, compression: "gzip" })), "OTLP JSON": () => conventions(new HTTP({ url, headers })), Langfuse: langfuse };
for (const peer of others) {
  const [name, program] = peer.split("=");
  const command = program.endsWith(".mjs") ? [process.execPath, program] : [program];
  peers[name] = () => execFileSync(command[0], [...command.slice(1), origin, key], { stdio: ["ignore", "inherit", "inherit"], timeout: 60_000 });
}

// What every dialect must come to: kinds below each other, models, tokens and
// texts. Each names the steps of models its own way, and says of the agent and of
// how an answer ended what it likes; not all name the provider.
const texts = (messages) => messages.map((m) => [m.role, m.content]);
function step(s, spans) {
  const out = { kind: s.kind, under: spans.find((p) => p.id === s.parent_span_id)?.kind ?? null, status: s.status };
  if (s.kind === "model") Object.assign(out, { model: s.model, tokens: [s.usage.input_tokens, s.usage.output_tokens], input: texts(s.input), output: texts(s.output) });
  if (s.kind === "tool") Object.assign(out, { name: s.name, input: s.input, output: s.output });
  return out;
}

const seen = new Set();
let first;
for (const [name, send] of Object.entries(peers)) {
  await send();
  const fresh = (await ask("/v1/traces?limit=50")).data.filter((t) => !seen.has(t.id));
  assert.equal(fresh.length, 1, `${name}: ${fresh.length} traces came`);
  const t = fresh[0];
  seen.add(t.id);
  const spans = (await ask(`/v1/traces/${t.id}/spans?limit=100`)).data;
  const tree = spans.map((s) => step(s, spans));
  tree.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  const whole = { agent: t.agent, models: t.models, tools: t.tools, tokens: [t.usage.input_tokens, t.usage.output_tokens], steps: t.span_count, tree };
  first ??= whole;
  assert.equal(whole.steps, 4, name);
  assert.deepEqual(whole.tokens, [60, 18], `${name}: tokens`);
  assert.deepEqual(whole, first, `${name} is another tree`);
  console.log(`${name}: 4 steps, the same tree`);
}
