package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// quicheEndpoint is an origin in the configuration of hopwise-quiche.
type quicheEndpoint struct {
	Origin            string   `json:"origin"`
	Addresses         []string `json:"addresses"`
	Certificate       string   `json:"certificate"`
	Key               string   `json:"key"`
	Upstream          string   `json:"upstream"`
	CongestionControl string   `json:"congestionControl"`
	// InitialWindow is in packets.
	InitialWindow int `json:"initialWindow"`
	// PacingMbps is 0 for no limit.
	PacingMbps float64 `json:"pacingMbps"`
	StartRate  bool    `json:"startRate"`
	Priorities string  `json:"priorities"`
}

// clientsFile keeps what hopwise-quiche knows of its clients' rates from one site to the next.
const clientsFile = "clients.json"

func quicheConfigOf(origins []frontOrigin, clients string) ([]byte, error) {
	endpoints := []quicheEndpoint{}
	for _, o := range origins {
		endpoints = append(endpoints, quicheEndpoint{
			Origin: o.Origin.Origin, Addresses: o.Addresses, Certificate: o.Certificate, Key: o.Key, Upstream: o.Upstream,
			CongestionControl: o.CongestionControl, InitialWindow: o.InitialWindow, PacingMbps: o.PacingMbps, StartRate: o.StartRate, Priorities: o.Priorities,
		})
	}
	return json.Marshal(map[string]any{"endpoints": endpoints, "clients": clients})
}

func (f *fronts) startQuiche(origins []frontOrigin) error {
	text, err := quicheConfigOf(origins, f.file(clientsFile))
	if err != nil {
		return err
	}
	file := f.file("quiche.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	if f.quiche, err = f.spawn("hopwise-quiche", nil, f.config.Quiche, "--config", file); err != nil {
		return err
	}
	lines := make(chan []byte, 1)
	go func() {
		line, _ := bufio.NewReader(f.quiche.out).ReadBytes('\n')
		lines <- line
	}()
	var line []byte
	if err := f.quiche.await(func() bool {
		select {
		case line = <-lines:
			return len(line) > 0
		default:
			return false
		}
	}); err != nil {
		return err
	}
	var ready struct {
		Ready bool   `json:"ready"`
		Stack string `json:"stack"`
	}
	if err := json.Unmarshal(line, &ready); err != nil || !ready.Ready {
		return fmt.Errorf("hopwise-quiche: expected that it is ready, got %.80q", line)
	}
	f.quicheStack = ready.Stack
	return nil
}

// forgetClients has all clients begin anew. hopwise-quiche must not run.
func (f *fronts) forgetClients() error {
	return ignoring(os.Remove(f.file(clientsFile)), os.ErrNotExist)
}
