// Package serve replays a site: every origin on its own address, over HTTP/1.1 and HTTP/2 by net/http and over HTTP/3 by
// quic-go, or behind nginx and quiche.
package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"hopwise/lab/certs"
	"hopwise/lab/netns"
	"hopwise/lab/site"
)

// TCPInitialWindow is the kernel's default, unless a route sets another.
const TCPInitialWindow = 10

// maxStreams is the number of concurrent requests a connection may carry: common among servers and not below what RFC 9113
// (section 6.5.2) and RFC 9114 (section 6.1) recommend.
const maxStreams = 128

// altSvc offers HTTP/3 on the same port for a day (RFC 7838).
const altSvc = `h3=":443"; ma=86400`

// startRateHint is the client hint by which clients announce their network's rate.
const startRateHint = "Start-Rate"

// Endpoint has the addresses and certificate of one origin.
type Endpoint struct {
	Origin    string     `json:"origin"`
	Addresses []string   `json:"addresses"`
	Pair      certs.Pair `json:"pair"`
}

// Config is a server's fixed configuration.
type Config struct {
	Endpoints []Endpoint    `json:"endpoints"`
	Defaults  site.Settings `json:"defaults"`
	// Fronts make nginx and quiche the servers; nil for the Go servers.
	Fronts *FrontsConfig `json:"fronts,omitempty"`
	// Upstreams answer for origins in place of the site's resources, by origin.
	Upstreams map[string]Upstream `json:"upstreams,omitempty"`
}

// Server serves one site at a time.
type Server struct {
	config     Config
	identities map[string]*identity
	recorder   *recorder
	// running are the origins of the site, by origin.
	running map[string]*replay
	// fronts is nil for the Go servers.
	fronts *fronts
	// starts are the rates of clients that announced them.
	starts startRates
	// port is that of all origins.
	port string
}

// identity has the keys that an origin's servers keep when they are closed and opened again, so that clients' tickets and
// tokens from earlier connections stay valid.
type identity struct {
	certificate tls.Certificate
	// tickets encrypts TLS session tickets (RFC 8446, section 4.6.1).
	tickets [32]byte
	// tokens encrypts QUIC address validation tokens (RFC 9000, section 8.1.3).
	tokens quic.TokenGeneratorKey
	// resets derives stateless reset tokens for connections of earlier servers (RFC 9000, section 10.3).
	resets quic.StatelessResetKey
}

func newIdentity(pair certs.Pair) (*identity, error) {
	certificate, err := tls.X509KeyPair(pair.ChainPEM, pair.KeyPEM)
	if err != nil {
		return nil, err
	}
	made := &identity{certificate: certificate}
	for _, key := range [][]byte{made.tickets[:], made.tokens[:], made.resets[:]} {
		// crypto/rand.Read never fails.
		_, _ = rand.Read(key)
	}
	return made, nil
}

// replay is a served origin.
type replay struct {
	handler *originHandler
	stops   []func() error
	// front is the origin as the fronts serve it.
	front frontOrigin
}

func (r *replay) stop() error {
	var failure error
	for _, stop := range r.stops {
		failure = errors.Join(failure, stop())
	}
	r.stops = nil
	return failure
}

// New reads the certificates.
func New(config Config) (s *Server, err error) {
	s = &Server{config: config, identities: map[string]*identity{}, recorder: &recorder{}, running: map[string]*replay{}, port: "443"}
	for _, endpoint := range config.Endpoints {
		made, err := newIdentity(endpoint.Pair)
		if err != nil {
			return nil, fmt.Errorf("server: certificate of %s: %w", endpoint.Origin, err)
		}
		s.identities[endpoint.Origin] = made
	}
	if config.Fronts != nil {
		s.fronts, err = newFronts(*config.Fronts, config.Endpoints, s.recorder, endProcess)
	}
	return s, err
}

// endProcess ends the server's process, which the lab notices.
func endProcess(reason error) {
	fmt.Fprintln(os.Stderr, "hopwise-lab:", reason)
	os.Exit(1)
}

// Serve replaces the site. Connections to the previous one are closed. On failure the previous site stays, unless a port could
// not be bound.
func (s *Server) Serve(dir string) error {
	source, err := site.Open(dir)
	if err != nil {
		return err
	}
	defer source.Close()
	for i, origin := range source.Origins {
		if _, known := s.identities[origin.Origin]; !known {
			return fmt.Errorf("%s/site.json: origins[%d]: expected an origin that the lab was started with, got %s", dir, i, origin.Origin)
		}
		if err := s.check(origin); err != nil {
			return err
		}
	}
	resources, err := readResources(source, dir)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	for _, origin := range source.Origins {
		if err := s.start(origin, resources[origin.Origin]); err != nil {
			return err
		}
	}
	return s.startFronts()
}

// check refuses settings that the stack does not have.
func (s *Server) check(origin site.Origin) error {
	if s.fronts == nil {
		return nil
	}
	origin.Settings = origin.Settings.Or(s.config.Defaults)
	return s.fronts.check(origin)
}

// startFronts starts or restarts the fronts of the origins, if the stack has any.
func (s *Server) startFronts() error {
	if s.fronts == nil {
		return nil
	}
	var origins []frontOrigin
	for _, endpoint := range s.config.Endpoints {
		if running, found := s.running[endpoint.Origin]; found {
			origins = append(origins, running.front)
		}
	}
	if err := s.fronts.restart(origins); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// Change serves origins of the site with other settings and unchanged resources. Connections to them are closed, and behind
// fronts those to the other origins too.
func (s *Server) Change(origins []site.Origin) error {
	for _, origin := range origins {
		if _, found := s.running[origin.Origin]; !found {
			return fmt.Errorf("server: %s is not served", origin.Origin)
		}
		if err := s.check(origin); err != nil {
			return err
		}
	}
	if s.fronts != nil {
		s.fronts.stop()
		if err := s.fronts.forgetClients(); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	s.starts.forget(time.Now())
	for _, origin := range origins {
		running := s.running[origin.Origin]
		if err := running.stop(); err != nil {
			return fmt.Errorf("server: %s: %w", origin.Origin, err)
		}
		if err := s.start(origin, running.handler.resources); err != nil {
			return err
		}
	}
	return s.startFronts()
}

// start serves an origin on all its addresses.
func (s *Server) start(origin site.Origin, resources index) error {
	origin.Settings = origin.Settings.Or(s.config.Defaults)
	handler := &originHandler{
		origin: origin.Origin, host: origin.Host(), resources: resources, log: s.recorder,
		think:            time.Duration(origin.ThinkMs * float64(time.Millisecond)),
		ignorePriorities: origin.Priorities == site.PrioritiesIgnored,
		fronts:           s.fronts,
	}
	if origin.StartRate {
		handler.acceptCH = startRateHint
	}
	if origin.OffersH3() {
		handler.altSvc = altSvc
	}
	if upstream, found := s.config.Upstreams[origin.Origin]; found {
		var err error
		if handler.upstream, err = newUpstreamProxy(upstream, origin.Origin, handler.altSvc, s.recorder); err != nil {
			return fmt.Errorf("server: upstreams: %w", err)
		}
	}
	running := &replay{handler: handler}
	s.running[origin.Origin] = running
	at := slices.IndexFunc(s.config.Endpoints, func(e Endpoint) bool { return e.Origin == origin.Origin })
	if s.fronts != nil {
		if err := s.listenBehindFronts(running, origin, at); err != nil {
			return fmt.Errorf("server: %s: %w", origin.Origin, err)
		}
		return nil
	}
	if origin.StartRate {
		handler.starts = newTCPStarts(&s.starts, at, origin.Settings, s.recorder, netns.SetInitialWindow)
	}
	for _, address := range s.config.Endpoints[at].Addresses {
		if err := s.listen(running, origin, address); err != nil {
			return fmt.Errorf("server: %s: %w", origin.Origin, err)
		}
	}
	return nil
}

// readResources reads or makes all bodies of a site, and returns its resources by origin.
func readResources(source *site.Site, dir string) (map[string]index, error) {
	resources := map[string]index{}
	for _, origin := range source.Origins {
		resources[origin.Origin] = newIndex()
	}
	total := 0
	for i, resource := range source.Resources {
		body, err := makeBody(source, resource)
		if err != nil {
			return nil, fmt.Errorf("%s/site.json: resources[%d]%w", dir, i, err)
		}
		if total += len(body); total > maxTotalBytes {
			return nil, fmt.Errorf("%s/site.json: resources[%d]: expected at most %d bytes of bodies in all", dir, i, maxTotalBytes)
		}
		header := http.Header{}
		for name, value := range resource.Headers {
			name = http.CanonicalHeaderKey(name)
			// Filler is not encoded, even if the recorded body was.
			if ownHeaders[name] || (name == "Content-Encoding" && resource.Body.File == nil) {
				continue
			}
			header[name] = []string{value}
		}
		resources[resource.Origin].add(candidate{
			method: resource.Method, target: resource.Path, digest: resource.RequestSHA256,
			answer: &answer{
				status: resource.Status, header: header, body: body,
				think: time.Duration(resource.ThinkMs * float64(time.Millisecond)),
			},
		})
	}
	return resources, nil
}

func (s *Server) listen(running *replay, origin site.Origin, address string) error {
	errorLog := log.New(s.recorder, origin.Origin+": ", 0)
	own := s.identities[origin.Origin]
	// Session tickets are on in both stacks, as in servers by default.
	security := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own.certificate}}
	// Copies of the configuration share the key.
	security.SetSessionTicketKeys([][32]byte{own.tickets})
	hostPort := net.JoinHostPort(address, s.port)
	protocols := &http.Protocols{}
	protocols.SetHTTP1(slices.Contains(origin.Protocols, "h1"))
	protocols.SetHTTP2(slices.Contains(origin.Protocols, "h2"))
	if protocols.HTTP1() || protocols.HTTP2() {
		// Keep-alive probes would shift the packet numbers that decide the link's losses.
		config := net.ListenConfig{KeepAlive: -1, Control: configureTCP(origin.Settings)}
		listener, err := config.Listen(context.Background(), "tcp", hostPort)
		if err != nil {
			return err
		}
		tcpSecurity := security.Clone()
		if origin.TLSVersion == "1.2" {
			tcpSecurity.MinVersion, tcpSecurity.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		}
		if !protocols.HTTP1() {
			// Without ALPN the connection would use HTTP/1.1.
			tcpSecurity.VerifyConnection = func(state tls.ConnectionState) error {
				if state.NegotiatedProtocol == "" {
					return errors.New("the client offers no protocol, and HTTP/1.1 is not on offer")
				}
				return nil
			}
		}
		server := &http.Server{
			Handler: running.handler, TLSConfig: tcpSecurity, Protocols: protocols, ErrorLog: errorLog,
			HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
			ConnContext: withConnection,
		}
		if starts := running.handler.starts; starts != nil {
			server.ConnState = starts.follow
			running.stops = append(running.stops, starts.reset)
		}
		running.stops = append(running.stops, func() error {
			// The server may not have registered its listener yet.
			return errors.Join(server.Close(), ignoring(listener.Close(), net.ErrClosed))
		})
		go s.run(errorLog, func() error { return server.ServeTLS(listener, "", "") })
	}
	if slices.Contains(origin.Protocols, "h3") {
		packets, err := net.ListenPacket("udp", hostPort)
		if err != nil {
			return err
		}
		transport := &quic.Transport{Conn: packets, TokenGeneratorKey: &own.tokens, StatelessResetKey: &own.resets}
		listener, err := transport.ListenEarly(http3.ConfigureTLSConfig(security.Clone()), &quic.Config{MaxIncomingStreams: maxStreams, Allow0RTT: origin.EarlyData})
		if err != nil {
			return errors.Join(err, packets.Close())
		}
		server := &http3.Server{
			Handler:     running.handler,
			ConnContext: withQUICConnection,
		}
		running.stops = append(running.stops, func() error {
			return errors.Join(server.Close(), listener.Close(), transport.Close(), packets.Close())
		})
		go s.run(errorLog, func() error { return server.ServeListener(listener) })
	}
	return nil
}

// listenBehindFronts serves an origin on a Unix socket. index is that of its endpoint.
func (s *Server) listenBehindFronts(running *replay, origin site.Origin, index int) error {
	running.front = frontOrigin{
		Origin: origin, Certificate: s.fronts.file("%d.pem", index), Key: s.fronts.file("%d.key", index),
		Upstream: s.fronts.file("%d.sock", index),
	}
	for _, address := range s.config.Endpoints[index].Addresses {
		running.front.Addresses = append(running.front.Addresses, net.JoinHostPort(address, s.port))
	}
	listener, err := net.Listen("unix", running.front.Upstream)
	if err != nil {
		return err
	}
	errorLog := log.New(s.recorder, origin.Origin+": ", 0)
	server := &http.Server{Handler: running.handler, ErrorLog: errorLog}
	running.stops = append(running.stops, func() error {
		return errors.Join(server.Close(), ignoring(listener.Close(), net.ErrClosed))
	})
	go s.run(errorLog, func() error { return server.Serve(listener) })
	return nil
}

func ignoring(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

func (s *Server) run(errorLog *log.Logger, serve func() error) {
	if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, quic.ErrServerClosed) {
		errorLog.Print(err)
	}
}

// configureTCP sets a listener's congestion control and pacing, which its connections inherit.
func configureTCP(settings site.Settings) func(string, string, syscall.RawConn) error {
	return func(_, _ string, connection syscall.RawConn) error {
		var failure error
		err := connection.Control(func(fd uintptr) {
			name := settings.CongestionControl
			if err := unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
				failure = fmt.Errorf("TCP congestion control %s: %w", name, err)
				return
			}
			if settings.PacingMbps == 0 {
				return
			}
			bytesPerSecond := int(settings.PacingMbps * 1e6 / 8)
			if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, bytesPerSecond); err != nil {
				failure = fmt.Errorf("TCP pacing at %v Mbit/s: %w", settings.PacingMbps, err)
			}
		})
		return cmp.Or(failure, err)
	}
}

// Stacks describes the servers as they run.
func (s *Server) Stacks() Stacks {
	if s.fronts == nil {
		return goStacks
	}
	return s.fronts.stacks(s.config.Defaults)
}

// Log returns the entries and errors since the last call.
func (s *Server) Log() Log { return s.recorder.take() }

// Close ends all connections.
func (s *Server) Close() error {
	var failure error
	if s.fronts != nil {
		s.fronts.stop()
	}
	for _, running := range s.running {
		failure = errors.Join(failure, running.stop())
	}
	s.running = map[string]*replay{}
	return failure
}
