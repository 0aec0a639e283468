// Package serve replays a site: every origin on its own address, over HTTP/1.1 and HTTP/2 by
// net/http and over HTTP/3 by quic-go.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"hopwise/lab/certs"
	"hopwise/lab/site"
)

// What the transports do, for who models them. quic-go's are its own constants (RFC 9002 with Reno,
// internal/congestion: an initial window of 32 packets); the TCP window is the kernel's unless
// a route says otherwise.
const (
	QUICCongestionControl = "reno"
	QUICInitialWindow     = 32
	TCPInitialWindow      = 10
)

// maxStreams is the number of concurrent requests a connection may carry: the least that RFC 9113
// (section 6.5.2) and RFC 9114 (section 6.1) recommend, and what most servers set.
const maxStreams = 128

// altSvc offers HTTP/3 on the same port for a day (RFC 7838).
const altSvc = `h3=":443"; ma=86400`

// Endpoint is where one origin is served.
type Endpoint struct {
	Origin    string     `json:"origin"`
	Addresses []string   `json:"addresses"`
	Pair      certs.Pair `json:"pair"`
}

// Config is what a server keeps for its life.
type Config struct {
	Endpoints         []Endpoint `json:"endpoints"`
	CongestionControl string     `json:"congestionControl"`
	// Priorities is "honoured" or "ignored", for origins that do not say.
	Priorities string `json:"priorities"`
}

// Server serves one site at a time.
type Server struct {
	config       Config
	certificates map[string]tls.Certificate
	recorder     *recorder
	running      []func() error
	// port of all origins.
	port string
}

// New reads the certificates.
func New(config Config) (*Server, error) {
	s := &Server{config: config, certificates: map[string]tls.Certificate{}, recorder: &recorder{}, port: "443"}
	for _, endpoint := range config.Endpoints {
		pair, err := tls.X509KeyPair(endpoint.Pair.ChainPEM, endpoint.Pair.KeyPEM)
		if err != nil {
			return nil, fmt.Errorf("server: certificate of %s: %w", endpoint.Origin, err)
		}
		s.certificates[endpoint.Origin] = pair
	}
	return s, nil
}

// Serve replaces the site. Connections to the last one are closed. When it fails, what was served
// before is gone only if a port could not be bound.
func (s *Server) Serve(dir string) error {
	source, err := site.Open(dir)
	if err != nil {
		return err
	}
	defer source.Close()
	for i, origin := range source.Origins {
		if _, known := s.certificates[origin.Origin]; !known {
			return fmt.Errorf("%s/site.json: origins[%d]: expected an origin that the lab was started with, got %s", dir, i, origin.Origin)
		}
	}
	handlers, err := s.handlers(source, dir)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	for _, origin := range source.Origins {
		index := slices.IndexFunc(s.config.Endpoints, func(e Endpoint) bool { return e.Origin == origin.Origin })
		for _, address := range s.config.Endpoints[index].Addresses {
			if err := s.listen(origin, address, handlers[origin.Origin]); err != nil {
				return fmt.Errorf("server: %s: %w", origin.Origin, err)
			}
		}
	}
	return nil
}

func (s *Server) handlers(source *site.Site, dir string) (map[string]*originHandler, error) {
	handlers := map[string]*originHandler{}
	for _, origin := range source.Origins {
		handler := &originHandler{
			origin: origin.Origin, host: origin.Host(), resources: newIndex(), log: s.recorder,
			ignorePriorities: cmp.Or(origin.Priorities, s.config.Priorities) == site.PrioritiesIgnored,
		}
		if slices.Contains(origin.Protocols, "h3") {
			handler.altSvc = altSvc
		}
		handlers[origin.Origin] = handler
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
			// Filler is not encoded, whatever the recorded body was.
			if ownHeaders[name] || (name == "Content-Encoding" && resource.Body.File == nil) {
				continue
			}
			header[name] = []string{value}
		}
		handlers[resource.Origin].resources.add(candidate{
			method: resource.Method, target: resource.Path, digest: resource.RequestSHA256,
			answer: &answer{
				status: resource.Status, header: header, body: body,
				think: time.Duration(resource.ThinkMs * float64(time.Millisecond)),
			},
		})
	}
	return handlers, nil
}

func (s *Server) listen(origin site.Origin, address string, handler http.Handler) error {
	errorLog := log.New(s.recorder, origin.Origin+": ", 0)
	// Session tickets are on in both stacks, as servers have them by default; early data is off.
	security := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{s.certificates[origin.Origin]}}
	hostPort := net.JoinHostPort(address, s.port)
	protocols := &http.Protocols{}
	protocols.SetHTTP1(slices.Contains(origin.Protocols, "h1"))
	protocols.SetHTTP2(slices.Contains(origin.Protocols, "h2"))
	if protocols.HTTP1() || protocols.HTTP2() {
		// Keep-alive probes would shift the packet numbers that decide the link's losses.
		config := net.ListenConfig{KeepAlive: -1, Control: s.setCongestionControl}
		listener, err := config.Listen(context.Background(), "tcp", hostPort)
		if err != nil {
			return err
		}
		server := &http.Server{
			Handler: handler, TLSConfig: security.Clone(), Protocols: protocols, ErrorLog: errorLog,
			HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
			ConnContext: withConnection,
		}
		s.running = append(s.running, server.Close)
		go s.run(errorLog, func() error { return server.ServeTLS(listener, "", "") })
	}
	if slices.Contains(origin.Protocols, "h3") {
		packets, err := net.ListenPacket("udp", hostPort)
		if err != nil {
			return err
		}
		server := &http3.Server{
			Handler: handler, TLSConfig: http3.ConfigureTLSConfig(security.Clone()),
			QUICConfig: &quic.Config{MaxIncomingStreams: maxStreams},
			ConnContext: func(ctx context.Context, _ *quic.Conn) context.Context {
				return withConnection(ctx, nil)
			},
		}
		s.running = append(s.running, func() error { return errors.Join(server.Close(), packets.Close()) })
		go s.run(errorLog, func() error { return server.Serve(packets) })
	}
	return nil
}

func (s *Server) run(errorLog *log.Logger, serve func() error) {
	if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, quic.ErrServerClosed) {
		errorLog.Print(err)
	}
}

func (s *Server) setCongestionControl(_, _ string, connection syscall.RawConn) error {
	var failure error
	err := connection.Control(func(fd uintptr) {
		failure = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, s.config.CongestionControl)
	})
	if failure != nil {
		return fmt.Errorf("TCP congestion control %s: %w", s.config.CongestionControl, failure)
	}
	return err
}

// Log returns what was seen since the last call.
func (s *Server) Log() Log { return s.recorder.take() }

// Close ends all connections.
func (s *Server) Close() error {
	var failure error
	for _, stop := range s.running {
		failure = errors.Join(failure, stop())
	}
	s.running = nil
	return failure
}
