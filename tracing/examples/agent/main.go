// Command agent is a small agent whose runs are captured: it answers a question
// with a model and a tool that adds numbers.
//
//	export EVALROUTER_TRACE_KEY=eri_... EVALROUTER_TRACE_CONNECTION_ID=... EVALROUTER_WORKSPACE_ID=...
//	export OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=llama3.2
//	agent 'What is 17 + 25?'
//
// OPENAI_BASE_URL is any endpoint that speaks OpenAI's chat completions, and
// OPENAI_API_KEY its key if it needs one. Without the variables of EvalRouter it
// says so, answers all the same and captures nothing.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/tracing"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	if len(args) != 1 || env("OPENAI_BASE_URL") == "" || env("MODEL") == "" {
		fmt.Fprintln(stderr, "usage: OPENAI_BASE_URL=... MODEL=... agent QUESTION")
		return 2
	}
	capture, err := tracing.New(tracing.Config{Service: "example-agent", Env: env, Logger: slog.New(slog.NewTextHandler(stderr, nil))})
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	defer func() {
		// Also after an interrupt: what the agent did until then is what one wants to see.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := capture.Close(ctx); err != nil {
			fmt.Fprintln(stderr, err)
		}
	}()
	a := agent{capture: capture, chat: chat{base: strings.TrimRight(env("OPENAI_BASE_URL"), "/"), key: env("OPENAI_API_KEY"), model: env("MODEL")}}
	answer, err := a.answer(ctx, args[0])
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintln(stdout, answer)
	return 0
}

type agent struct {
	capture *tracing.TraceCapture
	chat    chat
}

// maxTurns ends an agent that never comes to an answer.
const maxTurns = 8

// answer is one run of the agent.
func (a agent) answer(ctx context.Context, question string) (string, error) {
	return tracing.Do(ctx, a.capture, tracing.Agent("adder"), func(ctx context.Context, run *tracing.Span) (string, error) {
		run.Input(question)
		messages := []message{
			{Role: "system", Content: "Answer in one sentence. Use the tool add for sums."},
			{Role: "user", Content: question},
		}
		for range maxTurns {
			reply, err := a.ask(ctx, messages)
			if err != nil {
				return "", err
			}
			messages = append(messages, reply)
			if len(reply.ToolCalls) == 0 {
				run.Output(reply.Content)
				return reply.Content, nil
			}
			for _, c := range reply.ToolCalls {
				messages = append(messages, message{Role: "tool", ToolCallID: c.ID, Content: a.call(ctx, c)})
			}
		}
		return "", fmt.Errorf("no answer after %d turns", maxTurns)
	})
}

// ask is one call to the model.
func (a agent) ask(ctx context.Context, messages []message) (message, error) {
	return tracing.Do(ctx, a.capture, tracing.Model("openai", a.chat.model), func(ctx context.Context, call *tracing.Span) (message, error) {
		call.Input(messages)
		reply, err := a.chat.complete(ctx, messages)
		if err != nil {
			return message{}, err
		}
		call.Usage(tracing.Usage{Input: reply.Usage.PromptTokens, Output: reply.Usage.CompletionTokens})
		call.Response(reply.Model, reply.ID, reply.Choices[0].FinishReason)
		call.Output(reply.Choices[0].Message)
		return reply.Choices[0].Message, nil
	})
}

// call is one call to a tool. What goes wrong is told to the model.
func (a agent) call(ctx context.Context, c toolCall) string {
	result, err := tracing.Do(ctx, a.capture, tracing.Tool(c.Function.Name), func(_ context.Context, call *tracing.Span) (string, error) {
		call.Input(json.RawMessage(c.Function.Arguments))
		var in struct{ A, B float64 }
		if c.Function.Name != "add" {
			return "", fmt.Errorf("there is no tool %q", c.Function.Name)
		}
		if err := json.Unmarshal([]byte(c.Function.Arguments), &in); err != nil {
			return "", fmt.Errorf("read the arguments of add: %w", err)
		}
		out := fmt.Sprint(in.A + in.B)
		call.Output(out)
		return out, nil
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return result
}
