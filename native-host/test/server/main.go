// Command server answers HTTP/1.1, HTTP/2 and HTTP/3 on one port, of the loopback interface
// unless its flags say otherwise, for the native host's tests. It makes a CA of its own, and ends when its standard input ends.
//
// Standard output carries JSON lines: first {"port": N}, then one line a request.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

type requestLine struct {
	Proto    string  `json:"proto"`
	Path     string  `json:"path"`
	Client   string  `json:"client"`
	Host     string  `json:"host"`
	AtMs     float64 `json:"atMs"`
	Priority string  `json:"priority"`
	Accept   string  `json:"accept"`
	Encoding string  `json:"encoding"`
	Agent    string  `json:"agent"`
	Cookie   string  `json:"cookie"`
	Method   string  `json:"method"`
	Range    string  `json:"range"`
	IfRange  string  `json:"ifRange"`
}

var (
	began  = time.Now()
	output = json.NewEncoder(os.Stdout)
	lock   sync.Mutex
)

func emit(line any) {
	lock.Lock()
	defer lock.Unlock()
	if err := output.Encode(line); err != nil {
		os.Exit(1)
	}
}

func main() {
	caFile := flag.String("ca", "", "write the CA certificate to this `file`")
	protocols := flag.String("protocols", "h1,h2,h3", "what is served")
	altSvc := flag.String("alt-svc", "h3=\":PORT\"; ma=60", "value of Alt-Svc, empty for none; PORT stands for the port")
	maxStreams := flag.Int("max-streams", 100, "concurrent requests a connection")
	address := flag.String("address", "127.0.0.1", "IPv4 `address` to listen on")
	silentUDP := flag.Bool("silent-udp", false, "hold the UDP port and answer nothing on it")
	refusing := flag.Bool("refusing", false, "do not act on the first request for each target over HTTP/2")
	clientCertificates := flag.Bool("client-certificates", false, "refuse clients without a certificate")
	askCertificates := flag.Bool("ask-certificates", false, "ask for a certificate, talk without one as well")
	lifetime := flag.Duration("lifetime", 24*time.Hour, "of the certificate, from now on; negative for one that has expired")
	idleTimeout := flag.Duration("idle-timeout", 30*time.Second, "after which a QUIC connection is given up without a word")
	resetKey := flag.String("stateless-reset-key", "", "`key` of stateless resets, which servers in one another's place share; empty for none")
	rawHTTP3Only := flag.Bool("raw-http3", false, "serve nothing but HTTP/3, as scripts on standard input say")
	flag.Parse()
	served := map[string]bool{}
	for _, name := range strings.Split(*protocols, ",") {
		served[name] = true
	}

	certificate, err := makeCertificate(*caFile, net.ParseIP(*address), *lifetime)
	if err != nil {
		log.Fatal(err)
	}
	if *rawHTTP3Only {
		packets, err := net.ListenPacket("udp", *address+":0")
		if err != nil {
			log.Fatal(err)
		}
		raw := &rawHTTP3{connections: map[*quic.Conn]bool{}}
		if err := raw.serve(packets, certificate, os.Stdin); err != nil {
			log.Fatal(err)
		}
		return
	}
	listener, packets, err := listenOnOnePort(*address, served["h3"] || *silentUDP)
	if err != nil {
		log.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		emit(requestLine{
			Proto: r.Proto, Path: r.URL.RequestURI(), Client: r.RemoteAddr, Host: r.Host,
			AtMs: float64(time.Since(began).Microseconds()) / 1000, Priority: r.Header.Get("Priority"),
			Accept: r.Header.Get("Accept"), Encoding: r.Header.Get("Accept-Encoding"),
			Agent: r.UserAgent(), Cookie: r.Header.Get("Cookie"), Method: r.Method,
			Range: r.Header.Get("Range"), IfRange: r.Header.Get("If-Range"),
		})
		if *altSvc != "" {
			w.Header().Set("Alt-Svc", strings.ReplaceAll(*altSvc, "PORT", strconv.Itoa(port)))
		}
		answer(w, r)
	})

	var alpn []string
	if served["h2"] {
		alpn = append(alpn, "h2")
	}
	if served["h1"] {
		alpn = append(alpn, "http/1.1")
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: alpn}
	quicConfig := &tls.Config{Certificates: []tls.Certificate{certificate}}
	if *askCertificates {
		config.ClientAuth = tls.RequestClientCert
		quicConfig.ClientAuth = tls.RequestClientCert
	}
	if *clientCertificates {
		config.ClientAuth = tls.RequireAnyClientCert
		quicConfig.ClientAuth = tls.RequireAnyClientCert
	}
	server := &http.Server{
		Handler:  handler,
		ErrorLog: log.New(io.Discard, "", 0),
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: *maxStreams},
	}
	server.TLSConfig = config
	if !served["h2"] {
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	if *refusing {
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": refuseHTTP2}
	}
	go func() { log.Fatal(server.ServeTLS(listener, "", "")) }()

	if packets != nil {
		if served["h3"] {
			h3 := &http3.Server{
				Handler:    handler,
				TLSConfig:  http3.ConfigureTLSConfig(quicConfig),
				QUICConfig: &quic.Config{MaxIncomingStreams: int64(*maxStreams), MaxIdleTimeout: *idleTimeout},
			}
			transport := &quic.Transport{Conn: packets}
			if *resetKey != "" {
				key := quic.StatelessResetKey(sha256.Sum256([]byte(*resetKey)))
				transport.StatelessResetKey = &key
			}
			connections, err := transport.ListenEarly(h3.TLSConfig, h3.QUICConfig)
			if err != nil {
				log.Fatal(err)
			}
			go func() { log.Fatal(h3.ServeListener(connections)) }()
		}
	}

	emit(map[string]int{"port": port})
	// The test's end, however it comes, closes this pipe.
	held.follow(os.Stdin)
}

// answer serves /bytes/N, /status/N, /cut/N (half of N bytes, then an abrupt end) and /trickle/N
// (N bytes in pieces of 1 kB every 10 ms), and what answerExchange does; ?delay=MS waits before
// the headers, ?held as long as the test says.
func answer(w http.ResponseWriter, r *http.Request) {
	kind, value, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	value, _, _ = strings.Cut(value, "/")
	number, _ := strconv.Atoi(value)
	if delay, err := strconv.Atoi(r.URL.Query().Get("delay")); err == nil {
		if !wait(r.Context(), time.Duration(delay)*time.Millisecond) {
			return
		}
	}
	if r.URL.Query().Has("held") && !held.wait(r.Context()) {
		return
	}
	switch kind {
	case "status":
		if number >= 300 && number < 400 && number != http.StatusNotModified {
			w.Header().Set("Location", "/status/200?from="+r.URL.Path)
		}
		w.WriteHeader(number)
	case "cut":
		w.Header().Set("Content-Length", strconv.Itoa(number))
		_, _ = w.Write(make([]byte, number/2))
		_ = http.NewResponseController(w).Flush()
		wait(r.Context(), 20*time.Millisecond)
		panic(http.ErrAbortHandler)
	case "trickle":
		for sent := 0; sent < number; sent += 1000 {
			if _, err := w.Write(make([]byte, min(1000, number-sent))); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			if !wait(r.Context(), 10*time.Millisecond) {
				return
			}
		}
	default:
		if answerExchange(kind, number, w, r) {
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(number))
		_, _ = w.Write(make([]byte, number))
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// listenOnOnePort opens a free TCP port and, on demand, the UDP port of the same number. The number is free for TCP but may be
// in use for UDP: then another one is tried.
func listenOnOnePort(address string, udp bool) (net.Listener, net.PacketConn, error) {
	const attempts = 20
	for attempt := 1; ; attempt++ {
		listener, err := net.Listen("tcp", address+":0")
		if err != nil || !udp {
			return listener, nil, err
		}
		port := listener.Addr().(*net.TCPAddr).Port
		packets, err := net.ListenPacket("udp", fmt.Sprintf("%s:%d", address, port))
		if err == nil {
			return listener, packets, nil
		}
		listener.Close()
		if attempt == attempts {
			return nil, nil, err
		}
	}
}
