package pcwnd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Ways to sample the sender's state.
const (
	// SamplerProbe is tcp:tcp_probe and tcp:tcp_cong_state_set: every arriving segment, every change.
	SamplerProbe = "tcp_probe"
	// SamplerInfo is TCP_INFO at an interval.
	SamplerInfo = "tcp_info"
)

// SendConfig is the first line to the sender's process.
type SendConfig struct {
	Address           string  `json:"address"`
	CongestionControl string  `json:"congestionControl"`
	Connections       int     `json:"connections"`
	Seconds           float64 `json:"seconds"`
	// BufferBytes are those of a socket's send buffer, large enough that only the congestion window limits it.
	BufferBytes int `json:"bufferBytes"`
	// Sampler is SamplerProbe, which falls back to SamplerInfo, or SamplerInfo.
	Sampler string `json:"sampler"`
	// ProgressMs is the time from one Progress to the next.
	ProgressMs float64 `json:"progressMs"`
}

// SendReply is a line from it. Exactly one of the pointers is set.
type SendReply struct {
	Error     string     `json:"error,omitempty"`
	Listening *Listening `json:"listening,omitempty"`
	Progress  *Progress  `json:"progress,omitempty"`
	Result    *Result    `json:"result,omitempty"`
}

// Listening has the port that receivers connect to.
type Listening struct {
	Address string `json:"address"`
	Sampler string `json:"sampler"`
	// Reason is why SamplerInfo is used instead of SamplerProbe.
	Reason string `json:"reason,omitempty"`
}

// Progress is what happened so far.
type Progress struct {
	Seconds    float64 `json:"seconds"`
	Rounds     uint64  `json:"rounds"`
	LossEvents uint64  `json:"lossEvents"`
	// Windows are the counts since the last Progress.
	Windows     []WindowCount `json:"windows"`
	Connections []State       `json:"connections"`
}

// State is that of one connection's sender, by TCP_INFO.
type State struct {
	// Cwnd and Ssthresh are segments.
	Cwnd     uint32 `json:"cwnd"`
	Ssthresh uint32 `json:"ssthresh"`
	// Reducing: a loss is being repaired without a timeout, and the window reduced to Ssthresh.
	Reducing       bool    `json:"reducing"`
	RTTMs          float64 `json:"rttMs"`
	DeliveredBytes uint64  `json:"deliveredBytes"`
}

// Result is the last line.
type Result struct {
	Sampler string `json:"sampler"`
	Reason  string `json:"reason,omitempty"`
	Kernel  string `json:"kernel"`
	// MSS is the payload of a full segment in bytes.
	MSS uint32 `json:"mss"`
	// Seconds are those from the first byte to the end of the sampling.
	Seconds float64 `json:"seconds"`
	Samples uint64  `json:"samples"`
	// LostSamples did not fit the ring buffer; the rounds around them are not counted.
	LostSamples uint64 `json:"lostSamples"`
	Recoveries  uint64 `json:"recoveries"`
	// DeliveredBytes are the acknowledged bytes of all connections.
	DeliveredBytes uint64        `json:"deliveredBytes"`
	Windows        []WindowCount `json:"windows"`
}

const (
	// firstPort and ports give every process its own port.
	firstPort = 20_000
	ports     = 40_000
	// acceptLimit is the time for receivers to connect.
	acceptLimit = 30 * time.Second
	// traceInterval is how often the trace is read, pollInterval how often TCP_INFO is.
	traceInterval = 20 * time.Millisecond
	pollInterval  = 2 * time.Millisecond
	chunkBytes    = 256 << 10
)

// SendChild is the main function of the sender's process, in the servers' network namespace and its own mount namespace.
func SendChild(in io.Reader, out io.Writer) error {
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	var config SendConfig
	if err := requests.Decode(&config); err != nil {
		return fmt.Errorf("bulk sender: request: %w", err)
	}
	stop, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
	result, err := send(stop, config, func(reply SendReply) error { return replies.Encode(reply) })
	if err != nil {
		return replies.Encode(SendReply{Error: err.Error()})
	}
	return replies.Encode(SendReply{Result: &result})
}

type connection struct {
	socket  *net.TCPConn
	raw     syscall.RawConn
	peer    uint16
	cookie  uint64
	tracker *Tracker
	state   int
}

func send(stop context.Context, config SendConfig, reply func(SendReply) error) (result Result, err error) {
	port := uint16(firstPort + os.Getpid()%ports)
	trace, reason, err := openSampler(config.Sampler, port)
	if err != nil {
		return result, err
	}
	if trace != nil {
		defer func() { err = errors.Join(err, trace.Close()) }()
	}
	listening := net.ListenConfig{KeepAlive: -1, Control: control(func(fd int) error {
		return errors.Join(setCongestionControl(fd, config.CongestionControl), setBuffer(fd, unix.SO_SNDBUFFORCE, config.BufferBytes))
	})}
	listener, err := listening.Listen(stop, "tcp4", fmt.Sprintf("%s:%d", config.Address, port))
	if err != nil {
		return result, err
	}
	defer listener.Close()
	result.Sampler, result.Reason = SamplerInfo, reason
	if trace != nil {
		result.Sampler = SamplerProbe
	}
	err = reply(SendReply{Listening: &Listening{listener.Addr().String(), result.Sampler, reason}})
	if err != nil {
		return result, err
	}
	counts := NewCounts()
	connections, err := accept(stop, listener.(*net.TCPListener), config.Connections, counts, &result)
	defer func() {
		for _, c := range connections {
			c.socket.Close()
		}
	}()
	if err != nil {
		return result, err
	}
	begun := time.Now()
	for _, c := range connections {
		go fill(c.socket)
	}
	sample := pollEach(connections, &result)
	interval := pollInterval
	if trace != nil {
		sample, interval = traceEach(trace, connections, &result), traceInterval
	}
	ticks := time.NewTicker(interval)
	progress := time.NewTicker(time.Duration(config.ProgressMs * float64(time.Millisecond)))
	defer ticks.Stop()
	defer progress.Stop()
	ended := time.After(time.Duration(config.Seconds * float64(time.Second)))
	for running := true; running; {
		select {
		case <-stop.Done():
			return result, errors.New("stopped")
		case <-ended:
			running = false
		case <-ticks.C:
			if err := sample(); err != nil {
				return result, err
			}
		case <-progress.C:
			if err := sample(); err != nil {
				return result, err
			}
			so, err := progressOf(connections, counts)
			if err != nil {
				return result, err
			}
			so.Seconds = time.Since(begun).Seconds()
			if err := reply(SendReply{Progress: &so}); err != nil {
				return result, err
			}
		}
	}
	if trace != nil {
		if err := trace.Stop(); err != nil {
			return result, err
		}
	}
	result.Seconds = time.Since(begun).Seconds()
	if err := sample(); err != nil {
		return result, err
	}
	for _, c := range connections {
		info, err := c.info()
		if err != nil {
			return result, err
		}
		result.DeliveredBytes += info.Bytes_acked
	}
	result.Windows, result.Recoveries = counts.Windows(), counts.Recoveries
	result.Kernel, err = kernel()
	return result, err
}

func progressOf(connections []*connection, counts *Counts) (Progress, error) {
	progress := Progress{Rounds: counts.Rounds, LossEvents: counts.LossEvents, Windows: counts.TakeRecent()}
	for _, c := range connections {
		info, err := c.info()
		if err != nil {
			return progress, err
		}
		progress.Connections = append(progress.Connections, State{
			Cwnd: info.Snd_cwnd, Ssthresh: info.Snd_ssthresh, Reducing: info.Ca_state == caCWR || info.Ca_state == caRecovery,
			RTTMs: float64(info.Rtt) / 1000, DeliveredBytes: info.Bytes_acked,
		})
	}
	return progress, nil
}

// openSampler returns a nil trace where TCP_INFO is to be read, with the reason if that is a fallback.
func openSampler(sampler string, port uint16) (trace *Trace, reason string, err error) {
	if sampler == SamplerInfo {
		return nil, "", nil
	}
	trace, err = OpenTrace(port)
	if err != nil {
		return nil, strings.ReplaceAll(err.Error(), "\n", "; "), nil
	}
	return trace, "", nil
}

// control turns an action on a socket into a dialer's or listener's Control function.
func control(act func(fd int) error) func(string, string, syscall.RawConn) error {
	return func(_, _ string, socket syscall.RawConn) (err error) {
		failure := socket.Control(func(fd uintptr) { err = act(int(fd)) })
		return errors.Join(failure, err)
	}
}

func setCongestionControl(fd int, name string) error {
	switch err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err {
	case nil:
		return nil
	case unix.ENOENT:
		return fmt.Errorf("TCP congestion control %s: this kernel does not have it (`sudo modprobe tcp_%s`)", name, name)
	case unix.EPERM:
		return fmt.Errorf("TCP congestion control %s: this user may not use it (add it to the sysctl net.ipv4.tcp_allowed_congestion_control)", name)
	default:
		return fmt.Errorf("TCP congestion control %s: %w", name, err)
	}
}

// setBuffer sets SO_SNDBUFFORCE or SO_RCVBUFFORCE; the kernel doubles the value for its own overhead.
// Without root the kernel's auto-tuning sizes the buffer.
func setBuffer(fd, option, bytes int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, bytes); err != nil && err != unix.EPERM {
		return fmt.Errorf("socket buffer of %d bytes: %w", bytes, err)
	}
	return nil
}

func accept(stop context.Context, listener *net.TCPListener, count int, counts *Counts, result *Result) ([]*connection, error) {
	var connections []*connection
	if err := listener.SetDeadline(time.Now().Add(acceptLimit)); err != nil {
		return nil, err
	}
	defer context.AfterFunc(stop, func() { listener.Close() })()
	for len(connections) < count {
		socket, err := listener.AcceptTCP()
		if err != nil {
			return connections, fmt.Errorf("bulk sender: %d of %d receivers connected: %w", len(connections), count, err)
		}
		c := &connection{socket: socket, peer: socket.RemoteAddr().(*net.TCPAddr).AddrPort().Port()}
		connections = append(connections, c)
		if c.raw, err = socket.SyscallConn(); err != nil {
			return connections, err
		}
		info, err := c.info()
		if err != nil {
			return connections, err
		}
		var failure error
		err = c.raw.Control(func(fd uintptr) {
			c.cookie, failure = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_COOKIE)
		})
		if err := errors.Join(err, failure); err != nil {
			return connections, fmt.Errorf("bulk sender: socket cookie: %w", err)
		}
		c.tracker, result.MSS = NewTracker(counts, info.Snd_mss), info.Snd_mss
	}
	return connections, nil
}

// fill keeps a connection's send buffer full until it is closed.
func fill(socket *net.TCPConn) {
	chunk := make([]byte, chunkBytes)
	for {
		if _, err := socket.Write(chunk); err != nil {
			return
		}
	}
}

func (c *connection) info() (info *unix.TCPInfo, err error) {
	failure := c.raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if err = errors.Join(failure, err); err != nil {
		return nil, fmt.Errorf("bulk sender: TCP_INFO: %w", err)
	}
	return info, nil
}

func traceEach(trace *Trace, connections []*connection, result *Result) func() error {
	byPeer := map[uint16]*connection{}
	for _, c := range connections {
		byPeer[c.peer] = c
	}
	return func() error {
		return trace.Read(func(event Event) {
			if event.Lost > 0 {
				result.LostSamples += event.Lost
				for _, c := range connections {
					c.tracker.Interrupt()
				}
				return
			}
			c := byPeer[event.Peer]
			switch {
			case c == nil || (event.Probe && event.Cookie != c.cookie):
				// The event belongs to another network namespace with the same ports.
			case event.Probe:
				result.Samples++
				c.tracker.Sample(event.Sample)
			default:
				c.tracker.State(event.State)
			}
		})
	}
}

// pollEach samples by TCP_INFO. A recovery lasts at least a round trip, so none is missed where that is longer than the
// interval.
func pollEach(connections []*connection, result *Result) func() error {
	return func() error {
		for _, c := range connections {
			info, err := c.info()
			if err != nil {
				return err
			}
			if state := int(info.Ca_state); state != c.state {
				c.state = state
				c.tracker.State(state)
			}
			result.Samples++
			c.tracker.Sample(Sample{
				Unacknowledged: uint32(info.Bytes_acked), Next: uint32(info.Bytes_sent - info.Bytes_retrans), Cwnd: info.Snd_cwnd,
			})
		}
		return nil
	}
}

func kernel() (string, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	return unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:]), nil
}
