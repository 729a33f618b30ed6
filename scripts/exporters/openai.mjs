// An OpenAI for agents of the scenario: it says what the scenario has it say, in
// turn, and counts its tokens.
import http from "node:http";

export async function openai() {
  const said = ["I multiply.", "It is 42."];
  const server = http.createServer((req, res) => {
    req.resume();
    req.on("end", () => {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({
        id: "c1", object: "chat.completion", created: 1, model: "gpt-x", usage: { prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 },
        choices: [{ index: 0, message: { role: "assistant", content: said.shift() }, finish_reason: "stop" }],
      }));
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

// The agent of the scenario over a client of OpenAI's.
export async function support(client, tool) {
  const ask = async () => (await client.chat.completions.create({ model: "gpt-x", messages: [{ role: "user", content: "What is 6 times 7?" }] })).choices[0].message.content;
  await ask();
  await tool({ a: 6, b: 7 });
  return ask();
}
