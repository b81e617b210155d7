// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

// lead has kubeconfigs of tenants lead through the gate too.
func (g *gate) lead(answer *http.Response) error {
	if !isSecret(answer.Request) {
		return nil
	}
	answer.Header.Del("Content-Length")
	answer.ContentLength = -1
	behind := answer.Body
	reader, writer := io.Pipe()
	answer.Body = struct {
		io.Reader
		io.Closer
	}{reader, closer(func() error { _ = reader.Close(); return behind.Close() })}
	go func() {
		decoder := json.NewDecoder(behind) // one document, or one for each change that is watched
		decoder.UseNumber()
		for {
			var document map[string]any
			err := decoder.Decode(&document)
			if err == nil {
				err = json.NewEncoder(writer).Encode(g.led(document))
			}
			if err != nil {
				_ = writer.CloseWithError(err)
				return
			}
		}
	}()
	return nil
}

// closer is a function that closes.
type closer func() error

// Close closes.
func (c closer) Close() error { return c() }

// led is a document in which kubeconfigs lead through the gate.
func (g *gate) led(document map[string]any) map[string]any {
	if inner, ok := document["object"].(map[string]any); ok {
		g.led(inner)
	}
	if items, ok := document["items"].([]any); ok {
		for _, item := range items {
			if inner, ok := item.(map[string]any); ok {
				g.led(inner)
			}
		}
	}
	metadata, _ := document["metadata"].(map[string]any)
	data, _ := document["data"].(map[string]any)
	name, _ := metadata["name"].(string)
	if value, ok := data["value"].(string); ok && strings.HasSuffix(name, "-kubeconfig") {
		data["value"] = g.ledTenant(value)
	}
	return document
}

// ledTenant is a tenant's kubeconfig that leads through the gate, in base64 as it was. One that nobody can read stays.
func (g *gate) ledTenant(value string) string {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return value
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		return value
	}
	way, err := proxyTo(config)
	if err != nil {
		return value
	}
	g.tenant.Store(way)
	led, err := clientcmd.Write(*ledTo(g.inside))
	if err != nil {
		return value
	}
	return base64.StdEncoding.EncodeToString(led)
}
