package sob

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// MaxTokens and Temperature are the settings of SOB's runs.
const (
	MaxTokens   = 2048
	Temperature = 0
)

// systemPrompt is SOB's, word for word (MIT, Copyright (c) 2026 JigsawStack,
// Inc.): answers to another prompt would be another benchmark's.
const systemPrompt = "Answer the question using only the provided context. Return a valid JSON object that strictly follows the given JSON schema. Do not output anything except the JSON object.\n\n" +
	"Rules:\n" +
	"- No explanations: Do not include reasoning, analysis, or any sentences outside the JSON.\n" +
	"- No markdown: Do not wrap the JSON in code blocks or add formatting like ``` or 'json'.\n" +
	"- No extra text: Do not add prefixes or suffixes such as 'Answer:' or 'Output:'.\n" +
	"- Follow the schema exactly: Use only the keys defined in the schema and ensure correct data types.\n" +
	"- Include all required fields: Every field listed as required in the schema must appear in the JSON.\n" +
	"- If unknown, return null: If the context does not contain the answer, set the field value to null instead of guessing."

// Prompt is the conversation that asks for an answer. schema is the parsed
// schema; the prompt shows it indented, in ASCII.
func Prompt(context, question string, schema any) ([]bundle.Message, error) {
	shown, err := value.Dump{Indent: 2}.Dumps(schema)
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	user := "Context:\n" + context + "\n\nQuestion: " + question + "\n\nRespond with JSON matching this schema:\n" + shown
	return []bundle.Message{{Role: bundle.System, Text: systemPrompt}, {Role: bundle.User, Text: user}}, nil
}
