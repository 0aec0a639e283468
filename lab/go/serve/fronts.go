package serve

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hopwise/lab/site"
)

// Programs are the servers of the stack nginx-quiche. They stand in front of the replay handlers: nginx speaks HTTP/1.1 and
// HTTP/2 with clients, hopwise-quiche HTTP/3.
type Programs struct {
	Nginx string `json:"nginx"`
	// NginxLibraries is a folder with shared libraries that the machine lacks; empty for none.
	NginxLibraries string `json:"nginxLibraries,omitempty"`
	// Quiche is empty where no origin offers HTTP/3.
	Quiche string `json:"quiche,omitempty"`
}

// FrontsConfig configures fronts.
type FrontsConfig struct {
	Programs
	// Dir is an existing folder for configurations, certificates and sockets.
	Dir string `json:"dir"`
}

// fronts are the running servers of the stack nginx-quiche.
type fronts struct {
	config   FrontsConfig
	recorder *recorder
	// nginxVersion is as in 1.22.1.
	nginxVersion string
	// quicheStack is as in "quiche 0.30.0"; empty until hopwise-quiche was started.
	quicheStack   string
	nginx, quiche *front
	// failed is called when a front ends by itself.
	failed func(error)

	mutex sync.Mutex
	// numbers has the connections' numbers in the log, by front and its own number.
	numbers map[string]uint64
}

// frontOrigin is an origin as a front serves it.
type frontOrigin struct {
	site.Origin
	// Addresses have ports.
	Addresses []string
	// Files: the certificate with its chain, its key and the Unix socket of the replay handler.
	Certificate, Key, Upstream string
}

func (o frontOrigin) offers(protocol string) bool { return slices.Contains(o.Protocols, protocol) }

// ticketKeyFile has nginx's key of session tickets: one origin's clients resume their sessions after nginx was restarted.
const ticketKeyFile = "tickets.key"

func newFronts(config FrontsConfig, endpoints []Endpoint, log *recorder, failed func(error)) (*fronts, error) {
	f := &fronts{config: config, recorder: log, failed: failed, numbers: map[string]uint64{}}
	// Set explicitly, the limit is inherited: Go gives its children the one that it started with itself.
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	files.Cur = files.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	// AES-256 and its HMAC, as ssl_session_ticket_key takes them.
	key := make([]byte, 80)
	// crypto/rand.Read never fails.
	_, _ = rand.Read(key)
	if err := os.WriteFile(f.file(ticketKeyFile), key, 0o600); err != nil {
		return nil, err
	}
	for i, endpoint := range endpoints {
		if err := os.WriteFile(f.file("%d.pem", i), endpoint.Pair.ChainPEM, 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(f.file("%d.key", i), endpoint.Pair.KeyPEM, 0o600); err != nil {
			return nil, err
		}
	}
	var err error
	f.nginxVersion, err = f.askNginxVersion()
	return f, err
}

func (f *fronts) file(name string, values ...any) string {
	return filepath.Join(f.config.Dir, fmt.Sprintf(name, values...))
}

// check refuses settings that the fronts do not have.
func (f *fronts) check(origin site.Origin) error {
	offers := frontOrigin{Origin: origin}.offers
	switch {
	case origin.PacingMbps > 0 && (offers("h1") || offers("h2")):
		return fmt.Errorf("%s.pacingMbps: nginx cannot pace TCP: use the Go servers", origin.Origin)
	case origin.Priorities == site.PrioritiesIgnored && offers("h2"):
		return fmt.Errorf("%s.priorities: nginx honours those of HTTP/2 always: use the Go servers to ignore them", origin.Origin)
	case origin.TLSVersion == "1.2" && (offers("h1") || offers("h2")):
		return fmt.Errorf("%s.tlsVersion: the lab's nginx speaks TLS 1.3 alone: use the Go servers", origin.Origin)
	case origin.EarlyData && offers("h3"):
		return fmt.Errorf("%s.earlyData: the lab's quiche accepts none: use the Go servers", origin.Origin)
	case origin.StartRate && !offers("h3"):
		return fmt.Errorf("%s.startRate: nginx does not start at a rate, quiche does: expected h3 among its protocols", origin.Origin)
	case f.config.Quiche == "" && offers("h3"):
		return fmt.Errorf("%s.protocols: h3 needs hopwise-quiche, which the lab was started without", origin.Origin)
	}
	return nil
}

// restart replaces the running fronts. Their connections are closed. It must be called on the main thread, as fronts die with
// the thread that started them.
func (f *fronts) restart(origins []frontOrigin) error {
	f.stop()
	tcp := slices.DeleteFunc(slices.Clone(origins), func(o frontOrigin) bool { return !o.offers("h1") && !o.offers("h2") })
	if len(tcp) > 0 {
		if err := f.startNginx(tcp); err != nil {
			return err
		}
	}
	quic := slices.DeleteFunc(slices.Clone(origins), func(o frontOrigin) bool { return !o.offers("h3") })
	if len(quic) > 0 {
		return f.startQuiche(quic)
	}
	return nil
}

// stop ends the fronts, and with them all connections.
func (f *fronts) stop() {
	f.nginx.stop()
	f.quiche.stop()
	f.nginx, f.quiche = nil, nil
	f.mutex.Lock()
	defer f.mutex.Unlock()
	clear(f.numbers)
}

// Headers in which a front describes the connection that a request came on.
const (
	protocolHeader   = "Hopwise-Protocol"
	connectionHeader = "Hopwise-Connection"
	resumedHeader    = "Hopwise-Resumed"
)

// arrival reads and removes the headers that the front added to a request.
func (f *fronts) arrival(header http.Header) arrival {
	version := strings.TrimPrefix(header.Get(protocolHeader), "HTTP/")
	number := header.Get(connectionHeader)
	came := arrival{protocol: "h" + version[:min(1, len(version))], resumed: header.Get(resumedHeader) == "1"}
	for _, name := range []string{protocolHeader, connectionHeader, resumedHeader} {
		header.Del(name)
	}
	key := "nginx " + number
	if came.protocol == "h3" {
		key = "quiche " + number
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.numbers[key] == 0 {
		f.numbers[key] = connections.Add(1)
	}
	came.connection = f.numbers[key]
	return came
}

// front is a running server.
type front struct {
	name     string
	command  *exec.Cmd
	in       io.Closer
	out      *os.File
	messages *messages
	// isWanted is true from its start to its stop: in between it must not end.
	isWanted atomic.Bool
	// ended closes when the process has ended and its messages are read.
	ended chan struct{}
}

// startLimit is how long a front may take to bind its ports.
const startLimit = 10 * time.Second

func (f *fronts) spawn(name string, environment []string, program string, arguments ...string) (*front, error) {
	command := exec.Command(program, arguments...)
	command.Dir = f.config.Dir
	command.Env = append(os.Environ(), environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	one := &front{name: name, command: command, messages: &messages{recorder: f.recorder, prefix: name + ": "}, ended: make(chan struct{})}
	command.Stderr = one.messages
	var err error
	if one.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	// Wait would close the pipe of StdoutPipe before its last line is read.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command.Stdout, one.out = write, read
	err = errors.Join(command.Start(), write.Close())
	if err != nil {
		read.Close()
		return nil, fmt.Errorf("%s: cannot be started: %w", name, err)
	}
	go func() {
		_ = command.Wait()
		close(one.ended)
		if one.isWanted.Swap(false) {
			f.failed(fmt.Errorf("%s: ended unexpectedly: %v", name, command.ProcessState))
		}
	}()
	return one, nil
}

// await waits for isReady until the front ends or startLimit has passed. Failing, it stops the front.
func (p *front) await(isReady func() bool) error {
	const step = 2 * time.Millisecond
	for limit := time.Now().Add(startLimit); time.Now().Before(limit); {
		if isReady() {
			p.isWanted.Store(true)
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s: %s", p.name, cmp.Or(p.messages.last(), "ended while starting"))
		case <-time.After(step):
		}
	}
	p.stop()
	return fmt.Errorf("%s: %s", p.name, cmp.Or(p.messages.last(), fmt.Sprintf("not ready within %v", startLimit)))
}

// stopLimit is how long a front may take to close its connections.
const stopLimit = time.Second

func (p *front) stop() {
	if p == nil {
		return
	}
	p.isWanted.Store(false)
	_ = p.in.Close()
	if p.name == nginxName {
		// It does not read its stdin.
		_ = p.command.Process.Kill()
	}
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		_ = p.command.Process.Kill()
		<-p.ended
	}
	_ = p.out.Close()
}

// messages passes on the lines of a front's stderr to the log.
type messages struct {
	recorder *recorder
	prefix   string
	mutex    sync.Mutex
	rest     []byte
	latest   string
}

// stamp is what nginx writes before a message.
var stamp = regexp.MustCompile(`^(nginx: |\d{4}/\d\d/\d\d [\d:]+ )\[\w+\] (\d+#\d+: )?`)

func (m *messages) Write(text []byte) (int, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.rest = append(m.rest, text...)
	for {
		line, rest, found := bytes.Cut(m.rest, []byte("\n"))
		if !found {
			return len(text), nil
		}
		m.rest = rest
		if len(line) == 0 {
			continue
		}
		m.latest = string(stamp.ReplaceAll(bytes.TrimSpace(line), nil))
		_, _ = m.recorder.Write([]byte(m.prefix + m.latest + "\n"))
	}
}

func (m *messages) last() string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.latest
}
