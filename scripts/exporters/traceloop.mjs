// The run of agent.mjs as the SDK of Traceloop instruments and sends it.
//   node traceloop.mjs ORIGIN INGEST_KEY
import * as traceloop from "@traceloop/node-server-sdk";
import OpenAI from "openai";
import { openai, support } from "./openai.mjs";

const [origin, key] = process.argv.slice(2);
traceloop.initialize({
  appName: "peer", baseUrl: origin, apiKey: key, disableBatch: true, silenceInitializationMessage: true, traceloopSyncEnabled: false, instrumentModules: { openAI: OpenAI },
});
const fake = await openai();
const client = new OpenAI({ apiKey: "sk-none", baseURL: fake.url });
const multiply = (call) => traceloop.withTool({ name: "multiply" }, async ({ a, b }) => String(a * b), call);
await traceloop.withAgent({ name: "support" }, () => support(client, multiply));
await traceloop.forceFlush();
fake.close();
