// The run of agent.mjs as OpenInference instruments it: the client of OpenAI by
// its instrumentation, agent and tool by its wrappers.
//   node openinference.mjs ORIGIN INGEST_KEY
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { traceAgent, traceTool } from "@arizeai/openinference-core";
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";
import OpenAI from "openai";
import { openai, support } from "./openai.mjs";

const [origin, key] = process.argv.slice(2);
const exporter = new OTLPTraceExporter({ url: `${origin}/v1/otlp/v1/traces`, headers: { authorization: `Bearer ${key}` } });
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();
new OpenAIInstrumentation({ tracerProvider: provider }).manuallyInstrument(OpenAI);
const fake = await openai();
const client = new OpenAI({ apiKey: "sk-none", baseURL: fake.url });
const multiply = traceTool(async ({ a, b }) => String(a * b), { name: "multiply" });
await traceAgent(() => support(client, multiply), { name: "support" })();
await provider.forceFlush();
await provider.shutdown();
fake.close();
