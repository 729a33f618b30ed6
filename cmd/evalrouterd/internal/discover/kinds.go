package discover

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// ollama is known by its version and its greeting.
func (p prober) ollama() *Server {
	var v struct{ Version string }
	greeting, _ := p.get("/")
	if !p.ask("/api/version", &v) || v.Version == "" || !bytes.Contains(greeting, []byte("Ollama is running")) {
		return nil
	}
	var tags struct {
		Models []struct {
			Name   string
			Remote string `json:"remote_host"`
		}
	}
	var loaded struct {
		Models []struct {
			Name    string
			Context int `json:"context_length"`
		}
	}
	s := &Server{Kind: Ollama, Version: v.Version}
	p.ask("/api/tags", &tags)
	p.ask("/api/ps", &loaded)
	window := map[string]int{}
	for _, m := range loaded.Models {
		window[m.Name] = m.Context
	}
	for _, m := range tags.Models {
		s.Models = append(s.Models, Model{ID: m.Name, Context: max(window[m.Name], 0), Remote: m.Remote != ""})
	}
	return s
}

// lmStudio is known by its own list of models, in one of two forms.
func (p prober) lmStudio() *Server {
	var list struct {
		Models []struct {
			Type, Key string
			Loaded    []struct {
				Config struct {
					Context int `json:"context_length"`
				}
			} `json:"loaded_instances"`
		}
	}
	if p.ask("/api/v1/models", &list) && len(list.Models) > 0 && list.Models[0].Key != "" {
		s := &Server{Kind: LMStudio}
		for _, m := range list.Models {
			if m.Type == "embedding" || m.Type == "embeddings" {
				continue
			}
			window := 0
			if len(m.Loaded) > 0 {
				window = max(m.Loaded[0].Config.Context, 0)
			}
			s.Models = append(s.Models, Model{ID: m.Key, Context: window})
		}
		return s
	}
	var older struct {
		Data []struct {
			ID, Type, State string
			Format          string `json:"compatibility_type"`
			Context         int    `json:"loaded_context_length"`
		}
	}
	if !p.ask("/api/v0/models", &older) || len(older.Data) == 0 || older.Data[0].State == "" || older.Data[0].Format == "" {
		return nil
	}
	s := &Server{Kind: LMStudio}
	for _, m := range older.Data {
		if m.Type != "embeddings" {
			s.Models = append(s.Models, Model{ID: m.ID, Context: max(m.Context, 0)})
		}
	}
	return s
}

// llamaCpp is known by its properties.
func (p prober) llamaCpp() *Server {
	var props struct {
		Settings *struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Build string `json:"build_info"`
	}
	if !p.ask("/props", &props) || props.Settings == nil {
		return nil
	}
	s := &Server{Kind: LlamaCpp, Version: props.Build}
	body, status := p.get("/v1/models")
	models, _ := listed(body, status)
	for _, m := range models {
		s.Models = append(s.Models, Model{ID: m.ID, Context: max(props.Settings.Context, 0)})
	}
	return s
}

// listing is an entry of the list of models that all servers have.
type listing struct {
	ID      string
	Owner   string `json:"owned_by"`
	Context int    `json:"max_model_len"`
}

// listed reads that list; ok is false when it is none.
func listed(body []byte, status int) (list []listing, ok bool) {
	var b struct {
		Object string
		Data   []listing
	}
	if status != http.StatusOK || json.Unmarshal(body, &b) != nil || b.Data == nil {
		return nil, false
	}
	return b.Data, true
}

// generic reads the list that all servers have. Who owns the models says what
// the server is, if it is one that says so.
func (p prober) generic(body []byte, status int) *Server {
	var v struct{ Version string }
	models, ok := listed(body, status)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		s := &Server{Kind: Compatible, NeedsKey: true}
		if p.ask("/version", &v) && v.Version != "" { // which vLLM tells without a key
			s.Kind, s.Version = VLLM, v.Version
		}
		return s
	case !ok:
		return nil // a web server of another kind
	}
	s := &Server{Kind: Compatible}
	for _, m := range models {
		switch m.Owner {
		case "vllm":
			s.Kind = VLLM
		case "llamacpp":
			s.Kind = LlamaCpp
		}
		s.Models = append(s.Models, Model{ID: m.ID, Context: max(m.Context, 0)})
	}
	if s.Kind == VLLM && p.ask("/version", &v) {
		s.Version = v.Version
	}
	return s
}
