package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"hopwise/lab/link"
	"hopwise/lab/netns"
	"hopwise/lab/pcwnd"
)

// Names of the subcommands that the processes of `pcwnd` run.
const (
	commandSend    = "_send"
	commandReceive = "_receive"
)

// Socket buffers hold what the path and its queue can hold, plus what the path carries while a process waits for a processor,
// so that only the congestion window limits a sender and its pauses do not end in bursts.
const (
	pauseMs     = 250
	bufferLimit = 64 << 20
)

func bufferBytes(network link.Network) int {
	bytesPerMs := network.DownMbps * 1e6 / 8 / 1000
	queueMs := network.Queue.Ms + network.Queue.BDP*network.RTTMs
	return int(min(network.Queue.Bytes+bytesPerMs*(network.RTTMs+network.JitterMs+queueMs+pauseMs), bufferLimit))
}

// pcwndConfig is the file that `pcwnd` takes.
type pcwndConfig struct {
	Network json.RawMessage `json:"network"`
	// CongestionControl is the sender's: cubic, reno or bbr.
	CongestionControl string `json:"congestionControl"`
	// Connections are parallel and start together.
	Connections int     `json:"connections"`
	Seconds     float64 `json:"seconds"`
	// Sampler is tcp_probe (the default), which falls back to tcp_info, or tcp_info.
	Sampler string `json:"sampler"`
	// ProgressMs is the time from one line of progress to the next: 1000 unless given.
	ProgressMs float64 `json:"progressMs"`
	// Changes of the link, in order.
	Changes []pcwndChange `json:"changes"`

	network link.Network
}

// pcwndChange replaces the link some seconds after the first byte.
type pcwndChange struct {
	Seconds float64         `json:"seconds"`
	Network json.RawMessage `json:"network"`

	network link.Network
}

// pcwndLine is a line on stdout: progress, then the result.
type pcwndLine struct {
	Progress *pcwnd.Progress `json:"progress,omitempty"`
	Result   *pcwndResult    `json:"result,omitempty"`
}

type pcwndResult struct {
	pcwnd.Result
	// Down is the link in the direction of the data.
	Down       link.DirectionStats `json:"down"`
	Scheduling string              `json:"scheduling"`
}

func parsePcwnd(args []string) (pcwndConfig, error) {
	return parseConfig("pcwnd", args, readPcwndConfig)
}

func readPcwndConfig(path string) (pcwndConfig, error) {
	settings := pcwndConfig{Sampler: pcwnd.SamplerProbe, ProgressMs: 1000}
	if err := decodeFile(path, &settings); err != nil {
		return settings, err
	}
	switch settings.CongestionControl {
	case "cubic", "reno", "bbr":
	default:
		return settings, fmt.Errorf("congestionControl: expected cubic, reno or bbr, got %q", settings.CongestionControl)
	}
	if settings.Sampler != pcwnd.SamplerProbe && settings.Sampler != pcwnd.SamplerInfo {
		return settings, fmt.Errorf("sampler: expected tcp_probe or tcp_info, got %q", settings.Sampler)
	}
	if settings.Connections < 1 || settings.Connections > 100 {
		return settings, fmt.Errorf("connections: expected 1 to 100, got %d", settings.Connections)
	}
	// The condition is negated so that NaN is refused too.
	if !(settings.Seconds >= 0.1 && settings.Seconds <= 86_400) || math.IsInf(settings.Seconds, 0) {
		return settings, fmt.Errorf("seconds: expected 0.1 to 86400, got %v", settings.Seconds)
	}
	if !(settings.ProgressMs >= 10 && settings.ProgressMs <= 60_000) {
		return settings, fmt.Errorf("progressMs: expected 10 to 60000, got %v", settings.ProgressMs)
	}
	if settings.Network == nil {
		return settings, errors.New("network: expected an object")
	}
	var err error
	if settings.network, err = link.ParseNetwork(settings.Network); err != nil {
		return settings, err
	}
	after := 0.0
	for index := range settings.Changes {
		change := &settings.Changes[index]
		if !(change.Seconds > after && change.Seconds < settings.Seconds) {
			return settings, fmt.Errorf("changes[%d].seconds: expected more than %v and less than %v, got %v", index, after, settings.Seconds, change.Seconds)
		}
		after = change.Seconds
		if change.network, err = link.ParseNetwork(change.Network); err != nil {
			return settings, fmt.Errorf("changes[%d].%w", index, err)
		}
	}
	return settings, nil
}

// bufferBytes is enough on each of the links.
func (c pcwndConfig) bufferBytes() int {
	most := bufferBytes(c.network)
	for _, change := range c.Changes {
		most = max(most, bufferBytes(change.network))
	}
	return most
}

// measurePcwnd runs bulk transfers from the server's namespace to the client's over the link.
func measurePcwnd(args []string) (err error) {
	settings, err := parsePcwnd(args)
	if err != nil {
		return err
	}
	if err := becomeRoot(); err != nil {
		return err
	}
	if err := netns.CheckTUN(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	left := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(left)
	}()
	l := &lab{}
	defer l.down()
	server, err := l.connectBulk()
	if err != nil {
		return err
	}
	sender, err := spawnAhead(l.servers, unix.CLONE_NEWNS, "bulk sender", commandSend)
	if err != nil {
		return err
	}
	// It removes its trace instance when its stdin ends, which needs some time.
	defer sender.finish()
	listening, err := askSender(sender, pcwnd.SendConfig{
		Address: server.String(), CongestionControl: settings.CongestionControl,
		Connections: settings.Connections, Seconds: settings.Seconds, Sampler: settings.Sampler,
		BufferBytes: settings.bufferBytes(), ProgressMs: settings.ProgressMs,
	})
	if err != nil {
		return err
	}
	receiver, err := spawnAhead(l.client, 0, "bulk receiver", commandReceive,
		listening.Address, strconv.Itoa(settings.Connections), strconv.Itoa(settings.bufferBytes()))
	if err != nil {
		return err
	}
	defer receiver.stop()
	if l.pump, err = link.NewPump(l.client.TUN, l.servers.TUN, settings.network, map[netip.Addr]link.Peer{server: {}}); err != nil {
		return err
	}
	// This comes last, as children inherit the scheduling.
	if l.schedule, err = becomeRealTime(); err != nil {
		return err
	}
	l.pump.Start(prepareThread)
	if _, err := receiver.line(); err != nil {
		return err
	}
	replies, failed := readReplies(sender)
	answers := json.NewEncoder(os.Stdout)
	watch := time.NewTicker(time.Second)
	defer watch.Stop()
	began, changes := time.Now(), settings.Changes
	change := time.NewTimer(untilNext(began, changes))
	defer change.Stop()
	for {
		select {
		case <-change.C:
			l.pump.Configure(changes[0].network)
			changes = changes[1:]
			change.Reset(untilNext(began, changes))
		case <-signals:
			return errors.New("stopped")
		case <-left:
			return errors.New("stopped")
		case <-receiver.exited:
			return errors.New("bulk receiver: ended unexpectedly")
		case <-watch.C:
			if err := l.pump.Failure(); err != nil {
				return err
			}
		case err := <-failed:
			return err
		case reply := <-replies:
			if reply.Result == nil {
				if err := answers.Encode(pcwndLine{Progress: reply.Progress}); err != nil {
					return err
				}
				continue
			}
			down, _ := l.pump.Stats()
			return answers.Encode(pcwndLine{Result: &pcwndResult{*reply.Result, down, l.schedule}})
		}
	}
}

// untilNext is the time from now to the first of the changes, or as good as never.
func untilNext(began time.Time, changes []pcwndChange) time.Duration {
	if len(changes) == 0 {
		return math.MaxInt64
	}
	return time.Until(began.Add(time.Duration(changes[0].Seconds * float64(time.Second))))
}

// aheadPriority is above normal processes and below the link's threads.
const aheadPriority = fifoPriority / 2

// spawnAhead starts a process with real-time priority, if the user has the right: a process preempted during a system call
// keeps its socket locked, and the packets that arrive meanwhile are processed in one burst.
func spawnAhead(namespace *netns.Namespace, cloneFlags uintptr, name string, args ...string) (*process, error) {
	ahead := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: aheadPriority}
	if unix.SchedSetAttr(0, &ahead, 0) == nil {
		// The process has inherited the priority; this thread returns to its own.
		defer func() {
			_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0)
		}()
	}
	return spawn(namespace, cloneFlags, name, args...)
}

// connectBulk makes the two namespaces with one server's address.
func (l *lab) connectBulk() (server netip.Addr, err error) {
	if l.client, err = netns.New(); err != nil {
		return server, fmt.Errorf("%w%s", err, netns.RestrictedHint())
	}
	if l.servers, err = netns.New(); err != nil {
		return server, err
	}
	plan := benchmarkAddresses
	server, _ = plan.server(0)
	err = errors.Join(
		l.client.AddAddresses(plan.client),
		l.client.AddRoute(plan.servers, plan.client, 0),
		l.servers.AddAddresses(server),
		l.servers.AddRoute(netip.PrefixFrom(plan.client, 32), netip.Addr{}, 0),
	)
	for _, namespace := range []*netns.Namespace{l.client, l.servers} {
		err = errors.Join(err, namespace.Do(func() error {
			return errors.Join(
				netns.SetSetting("net/ipv4/tcp_no_metrics_save", "1"),
				// The last value bounds the kernel's auto-tuning and fixes the receivers' window scale; the others are the kernel's
				// defaults.
				netns.SetSetting("net/ipv4/tcp_rmem", fmt.Sprintf("4096 131072 %d", bufferLimit)),
				netns.SetSetting("net/ipv4/tcp_wmem", fmt.Sprintf("4096 16384 %d", bufferLimit)),
			)
		}))
	}
	return server, err
}

func askSender(sender *process, config pcwnd.SendConfig) (pcwnd.Listening, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return pcwnd.Listening{}, err
	}
	if _, err := sender.in.Write(append(text, '\n')); err != nil {
		return pcwnd.Listening{}, fmt.Errorf("%s: ended unexpectedly", sender.name)
	}
	reply, err := readReply(sender)
	if err != nil {
		return pcwnd.Listening{}, err
	}
	if reply.Listening == nil {
		return pcwnd.Listening{}, fmt.Errorf("%s: unexpected reply", sender.name)
	}
	return *reply.Listening, nil
}

func readReply(sender *process) (reply pcwnd.SendReply, err error) {
	line, err := sender.line()
	if err != nil {
		return reply, err
	}
	if err := json.Unmarshal([]byte(line), &reply); err != nil {
		return reply, fmt.Errorf("%s: unreadable reply: %w", sender.name, err)
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}

// readReplies passes on the sender's lines up to the last one, the result or a failure.
func readReplies(sender *process) (chan pcwnd.SendReply, chan error) {
	replies, failed := make(chan pcwnd.SendReply), make(chan error, 1)
	go func() {
		for {
			reply, err := readReply(sender)
			if err != nil {
				failed <- err
				return
			}
			replies <- reply
			if reply.Result != nil {
				return
			}
		}
	}()
	return replies, failed
}

// finishLimit is the time that a process has for its own clean-up.
const finishLimit = 3 * time.Second

// finish waits for the process to end and kills it after finishLimit.
func (p *process) finish() {
	_ = p.in.Close()
	select {
	case <-p.exited:
	case <-time.After(finishLimit):
	}
	p.stop()
}
