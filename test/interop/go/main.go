// The first public report's server: the Go SDK with JSON answers and a short session timeout.
// Prints its URL as a JSON line, then one for each request; GET /count tells what the SDK itself holds.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type keyed struct {
	Key string `json:"key"`
	Ms  int    `json:"ms,omitempty"`
}

// counters says how often a tool ran, by key.
type counters struct {
	sync.Mutex
	runs map[string]int
}

func (c *counters) add(key string) {
	c.Lock()
	defer c.Unlock()
	c.runs[key]++
}

func newServer(c *counters) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-server", Version: "1.0.0"}, nil)
	run := func(ctx context.Context, _ *mcp.CallToolRequest, in keyed) (*mcp.CallToolResult, any, error) {
		c.add(in.Key)
		select {
		case <-time.After(time.Duration(in.Ms) * time.Millisecond):
		case <-ctx.Done():
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Key}}}, nil, nil
	}
	mcp.AddTool(server, &mcp.Tool{Name: "count", Description: "counts at the server"}, run)
	mcp.AddTool(server, &mcp.Tool{Name: "slow", Description: "takes ms"}, run)
	return server
}

// recorder remembers the status; Unwrap lets http.ResponseController flush what is below.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

func (r *recorder) Flush() { r.ResponseWriter.(http.Flusher).Flush() }

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	timeout := flag.Duration("session-timeout", 0, "the SDK's SessionTimeout; 0 is never")
	jsonResponse := flag.Bool("json", true, "the SDK's JSONResponse")
	flag.Parse()

	c := &counters{runs: map[string]int{}}
	server := newServer(c)
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{JSONResponse: *jsonResponse, SessionTimeout: *timeout},
	)
	var out sync.Mutex
	say := func(v any) {
		out.Lock()
		defer out.Unlock()
		line, _ := json.Marshal(v)
		fmt.Fprintln(os.Stdout, string(line))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		sessions := 0
		for range server.Sessions() {
			sessions++
		}
		c.Lock()
		defer c.Unlock()
		json.NewEncoder(w).Encode(map[string]any{"sessions": sessions, "runs": c.runs})
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var message struct {
			Method string `json:"method"`
		}
		json.Unmarshal(body, &message)
		record := &recorder{ResponseWriter: w}
		start := time.Now()
		if r.Method == http.MethodGet {
			say(map[string]any{"event": "get-opened"})
		}
		handler.ServeHTTP(record, r)
		say(map[string]any{
			"event": "request", "method": r.Method, "rpc": message.Method, "status": record.status,
			"ms": time.Since(start).Milliseconds(),
		})
	})
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	say(map[string]any{"event": "listening", "url": "http://" + listener.Addr().String() + "/mcp"})
	// The parent's end is ours.
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	http.Serve(listener, mux)
}
