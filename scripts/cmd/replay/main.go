// Command replay serves recorded answers as an OpenAI-compatible endpoint on this machine:
//
//	replay -data solutions.jsonl -question question -answer 6b_finetuning.solution -model 6b -addr 127.0.0.1:0
//
// It answers POST /v1/chat/completions, POST /v1/completions and GET /v1/models, and tells what it saw at
// GET /counters. It prints its base URL once it listens. See internal/replay for what it promises.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/evalrouter/evalrouter/scripts/internal/loopback"
	"github.com/evalrouter/evalrouter/scripts/internal/replay"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

type options struct {
	data, question, answer string
	keyEnv                 string
	endpoint               loopback.Endpoint
	config                 replay.Config
}

func run(ctx context.Context, args []string, lookup func(string) (string, bool), stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.data, "data", "", "JSONL file with questions and answers")
	flags.StringVar(&o.question, "question", "question", "dot path of the question in a line")
	flags.StringVar(&o.answer, "answer", "answer", "dot path of the answer in a line")
	flags.StringVar(&o.config.Model, "model", "recorded", "name of the one model that is served")
	flags.StringVar(&o.keyEnv, "key-env", "", "environment variable with the API key to require")
	flags.StringVar(&o.config.LogPath, "log", "", "file that keeps the counts across restarts")
	flags.DurationVar(&o.config.Latency, "latency", 0, "time before every answer")
	flags.Float64Var(&o.config.FailRate, "fail-rate", 0, "share of questions answered with 503")
	flags.Float64Var(&o.config.DropRate, "drop-rate", 0, "share of questions whose answer is lost")
	flags.Uint64Var(&o.config.Seed, "seed", 1, "decides which questions fail or are lost")
	flags.StringVar(&o.endpoint.Addr, "addr", "127.0.0.1:0", "loopback address to listen on")
	flags.StringVar(&o.endpoint.Ready, "ready", "", "file that receives the base URL")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	o.endpoint.Out = stdout
	if err := o.serve(ctx, lookup); err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		return 1
	}
	return 0
}

func (o options) serve(ctx context.Context, lookup func(string) (string, bool)) error {
	if o.keyEnv != "" {
		key, ok := lookup(o.keyEnv)
		if !ok || key == "" {
			return fmt.Errorf("read the API key: variable %s is not set", o.keyEnv)
		}
		o.config.Key = key
	}
	file, err := os.Open(o.data)
	if err != nil {
		return fmt.Errorf("open recording: %w", err)
	}
	o.config.Recording, err = replay.ReadRecording(file, o.question, o.answer)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	server, err := replay.New(o.config)
	if err != nil {
		return err
	}
	o.endpoint.Handler = server
	return errors.Join(o.endpoint.Serve(ctx), server.Close())
}
