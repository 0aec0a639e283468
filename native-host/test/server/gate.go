package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log"
	"sync"
)

// held is where requests with ?held wait.
var held gate

// gate lets requests pass unless it is closed.
type gate struct {
	lock sync.Mutex
	// opened is nil while the gate is open, and is closed when it opens.
	opened chan struct{}
}

// follow opens and closes the gate as JSON lines such as {"holds": true} say, and confirms each, until their end.
func (g *gate) follow(lines io.Reader) {
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		var line struct {
			Holds bool `json:"holds"`
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			log.Fatal(err)
		}
		g.set(line.Holds)
		emit(map[string]bool{"set": true})
	}
}

func (g *gate) set(isClosed bool) {
	g.lock.Lock()
	defer g.lock.Unlock()
	if isClosed == (g.opened != nil) {
		return
	}
	if isClosed {
		g.opened = make(chan struct{})
		return
	}
	close(g.opened)
	g.opened = nil
}

// wait reports whether the gate is open before the request ends.
func (g *gate) wait(ctx context.Context) bool {
	g.lock.Lock()
	opened := g.opened
	g.lock.Unlock()
	if opened == nil {
		return true
	}
	select {
	case <-opened:
		return true
	case <-ctx.Done():
		return false
	}
}
