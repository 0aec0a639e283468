package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"hopwise/lab/link"
	"hopwise/lab/netns"
	"hopwise/lab/pcwnd"
	"hopwise/lab/serve"
	"hopwise/lab/site"
)

// ready is the first line on stdout.
type ready struct {
	Ready     bool       `json:"ready"`
	HolderPID int        `json:"holderPid"`
	Enter     []string   `json:"enter"`
	CAFile    string     `json:"caFile"`
	CASPKI    string     `json:"caSpki"`
	Origins   []endpoint `json:"origins"`
	// Server has the defaults for origins.
	Server site.Settings `json:"server"`
	serve.Stacks
	// Scheduling of the link's threads: fifo, or normal where the rights for that are missing.
	Scheduling string `json:"scheduling"`
	Rootless   bool   `json:"rootless"`
}

// maxCommandBytes bounds a line on stdin.
const maxCommandBytes = 1 << 20

func up(args []string) error {
	settings, err := parseUp(args)
	if err != nil {
		return err
	}
	if err := becomeRoot(); err != nil {
		return err
	}
	removeLeftovers()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	l, err := newLab(settings)
	if err != nil {
		return err
	}
	defer l.down()
	answers := json.NewEncoder(os.Stdout)
	err = answers.Encode(ready{
		Ready: true, HolderPID: l.holder.pid(), Enter: l.enter(),
		CAFile: filepath.Join(l.dir, caFile), CASPKI: l.authority.SPKI(), Origins: l.endpoints,
		Server: l.defaults, Stacks: l.stacks,
		Scheduling: l.schedule, Rootless: netns.IsRootless(),
	})
	if err != nil {
		return err
	}
	commands, reading := readLines()
	watch := time.NewTicker(time.Second)
	defer watch.Stop()
	for {
		select {
		case <-signals:
			return nil
		case <-l.server.exited:
			return errors.New("replay server: ended unexpectedly")
		case <-l.holder.exited:
			return errors.New("namespace holder: ended unexpectedly")
		case <-watch.C:
			if err := l.pump.Failure(); err != nil {
				return err
			}
		case err := <-reading:
			return err
		case line := <-commands:
			answer, err := l.handleCommand(line)
			if err != nil {
				answer = map[string]string{"error": err.Error()}
			}
			if err := answers.Encode(answer); err != nil {
				return err
			}
		}
	}
}

// becomeRoot does nothing for root. For other users it does not return: the program runs again as
// root of a user namespace.
func becomeRoot() error {
	if os.Geteuid() == 0 {
		return nil
	}
	if err := netns.CheckTUN(); err != nil {
		return err
	}
	code, err := netns.Rootless()
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}

// removeLeftovers removes what outlives a killed lab. A failure does not affect the next lab.
func removeLeftovers() {
	if netns.IsRootless() {
		// A rootless lab creates none of these.
		return
	}
	if err := pcwnd.RemoveStaleTraces(); err != nil {
		fmt.Fprintln(os.Stderr, "hopwise-lab warning:", err)
	}
}

// doctor makes namespaces and devices as a lab does, to check the rights, and releases them.
func doctor() error {
	if err := becomeRoot(); err != nil {
		return err
	}
	removeLeftovers()
	if _, err := findNsenter(); err != nil {
		return err
	}
	if err := netns.CheckTUN(); err != nil {
		return err
	}
	namespace, err := netns.New()
	if err != nil {
		return fmt.Errorf("%w%s", err, netns.RestrictedHint())
	}
	namespace.Close()
	return nil
}

// readLines passes on stdin's lines; done receives nil at its end.
func readLines() (lines chan []byte, done chan error) {
	lines, done = make(chan []byte), make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(os.Stdin)
		scanner.Buffer(make([]byte, 64<<10), maxCommandBytes)
		for scanner.Scan() {
			lines <- slices.Clone(scanner.Bytes())
		}
		if err := scanner.Err(); err != nil {
			err = inputError{fmt.Errorf("stdin: expected commands of at most %d bytes a line: %w", maxCommandBytes, err)}
			done <- err
			return
		}
		done <- nil
	}()
	return lines, done
}

type command struct {
	Cmd     string          `json:"cmd"`
	Network json.RawMessage `json:"network"`
	Site    string          `json:"site"`
	// Servers are changes by origin, objects of the same form as in site.json.
	Servers map[string]json.RawMessage `json:"servers"`
}

var done = map[string]bool{"ok": true}

// handleCommand carries out one line of the client and returns its answer.
func (l *lab) handleCommand(line []byte) (any, error) {
	var order command
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&order); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	switch order.Cmd {
	case "configure":
		network, err := link.ParseNetwork(order.Network)
		if err != nil {
			return nil, err
		}
		l.pump.Configure(network)
		return done, nil
	case "stats":
		down, up := l.pump.Stats()
		return map[string]link.DirectionStats{"down": down, "up": up}, nil
	case "reset-stats":
		l.pump.ResetStats()
		return done, nil
	case "log":
		reply, err := ask(l.server, serve.Request{Log: true})
		return reply.Log, err
	case "drain":
		return map[string]bool{"quiet": l.drain()}, nil
	case "site":
		if err := l.serve(order.Site); err != nil {
			return nil, err
		}
		return map[string][]endpoint{"origins": l.endpoints}, nil
	case "servers":
		if err := l.configureServers(order.Servers); err != nil {
			return nil, err
		}
		return map[string][]endpoint{"origins": l.endpoints}, nil
	}
	return nil, fmt.Errorf("command: expected configure, stats, reset-stats, log, drain, site or servers, got %.60q", order.Cmd)
}

// How long the link must be empty to be drained, and how long to wait for that.
const (
	drainQuiet = 200 * time.Millisecond
	drainLimit = 3 * time.Second
)

// drain waits until the link has been empty for a while and reports whether that happened.
func (l *lab) drain() bool {
	for limit := time.Now().Add(drainLimit); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if l.pump.QuietFor() >= drainQuiet {
			return true
		}
	}
	return false
}

func (l *lab) serve(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("site: expected an absolute folder, got %q", dir)
	}
	source, err := site.Open(dir)
	if err != nil {
		return err
	}
	if err := source.Close(); err != nil {
		return err
	}
	if _, err := ask(l.server, serve.Request{Site: dir}); err != nil {
		return err
	}
	origins := map[string]site.Origin{}
	for _, origin := range source.Origins {
		origins[origin.Origin] = origin
	}
	for _, e := range l.endpoints {
		if _, served := origins[e.Origin.Origin]; !served {
			origins[e.Origin.Origin] = site.Origin{Origin: e.Origin.Origin, Protocols: []string{}}
		}
	}
	return l.settle(origins)
}

// configureServers changes servers of the served site. Their connections are closed.
func (l *lab) configureServers(changes map[string]json.RawMessage) error {
	origins := map[string]site.Origin{}
	for _, e := range l.endpoints {
		change, found := changes[e.Origin.Origin]
		if !found {
			continue
		}
		if len(e.Protocols) == 0 {
			return fmt.Errorf("servers: %s: the served site does not have it", e.Origin.Origin)
		}
		origin, err := e.Origin.With(change)
		if err != nil {
			return fmt.Errorf("servers: %s%w", e.Origin.Origin, err)
		}
		origins[origin.Origin] = origin
	}
	for origin := range changes {
		if _, known := origins[origin]; !known {
			return fmt.Errorf("servers: expected an origin that the lab was started with, got %.80q", origin)
		}
	}
	changed := slices.Collect(maps.Values(origins))
	if _, err := ask(l.server, serve.Request{Change: changed}); err != nil {
		return err
	}
	return l.settle(origins)
}

// settle adapts the link and the routes to changed servers.
func (l *lab) settle(origins map[string]site.Origin) error {
	var failure error
	for i := range l.endpoints {
		origin, found := origins[l.endpoints[i].Origin.Origin]
		if !found {
			continue
		}
		origin.Settings = origin.Settings.Or(l.defaults)
		was := l.endpoints[i].Settings
		if origin.InitialWindow != was.InitialWindow || origin.CongestionControl != was.CongestionControl {
			failure = errors.Join(failure, l.routeToClient(i, origin.Settings))
		}
		l.endpoints[i].Origin = origin
	}
	l.pump.SetPeers(l.peers())
	return failure
}
