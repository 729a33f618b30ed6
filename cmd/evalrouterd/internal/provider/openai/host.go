package openai

import (
	"fmt"
	"net/url"
	"strings"
)

// host is a kind of server: hosts of one kind take the same requests and
// mean the same by an error.
type host string

const (
	openAI     host = "openai"
	azure      host = "azure"
	openRouter host = "openrouter"
	compatible host = "compatible" // every other one, local servers included
)

type endpoint struct {
	url  string
	host host
}

// locate joins the base URL of a target and the path of a protocol. A base
// URL without a path gets /v1, as all these servers have it; one with a path
// is the root of the API.
func locate(base, path string) (endpoint, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, fmt.Errorf("the base URL is not an http or https address")
	}
	root := strings.TrimRight(u.Path, "/")
	if root == "" {
		root = "/v1"
	}
	if !strings.HasSuffix(root, path) {
		root += path
	}
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: root}
	return endpoint{url: at.String(), host: kindOf(u.Hostname())}, nil
}

func kindOf(name string) host {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	within := func(domain string) bool { return name == domain || strings.HasSuffix(name, "."+domain) }
	switch {
	case within("api.openai.com"):
		return openAI
	case within("openai.azure.com"), within("cognitiveservices.azure.com"), within("services.ai.azure.com"):
		return azure
	case within("openrouter.ai"):
		return openRouter
	}
	return compatible
}
