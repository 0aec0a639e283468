package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"hopwise/lab/certs"
	"hopwise/lab/site"
)

const testHost = "www.lab.test"

// testServer serves fillers of all sizes on loopback.
type testServer struct {
	*Server
	trust *x509.CertPool
}

var testSizes = []int{1000, 300_000, 500_000, 700_000}

func newTestServer(t *testing.T, priorities string) *testServer {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()

	authority, err := certs.NewAuthority([]string{testHost}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(testHost, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	origin := "https://" + testHost
	content := site.Site{
		Format: "hopwise-site", Version: 1, Name: "test", Entry: origin + "/",
		Origins: []site.Origin{{Origin: origin, Protocols: []string{"h1", "h2", "h3"}, Settings: site.Settings{Priorities: priorities}}},
	}
	for _, size := range testSizes {
		for n := range 3 {
			content.Resources = append(content.Resources, site.Resource{
				Origin: origin, Path: fmt.Sprintf("/%d?%d", size, n), Status: 200, Body: site.Body{Filler: "bytes", Bytes: size},
			})
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "site.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := New(Config{
		Endpoints: []Endpoint{{Origin: origin, Addresses: []string{"127.0.0.1"}, Pair: pair}},
		Defaults:  site.Settings{CongestionControl: "cubic", Priorities: site.PrioritiesHonoured},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.port = port
	if err := server.Serve(dir); err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(authority.PEM)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		for _, complaint := range server.Log().Errors {
			t.Errorf("the server logged %s", complaint)
		}
	})
	return &testServer{server, trust}
}

// clientRate is the clients' reading rate in bytes per second.
const clientRate = 2 << 20

type slowSocket struct{ net.Conn }

func (s slowSocket) Read(p []byte) (int, error) {
	size, err := s.Conn.Read(p[:min(len(p), 4096)])
	time.Sleep(time.Duration(size) * time.Second / clientRate)
	return size, err
}

// smallWindow limits how much unread data a client's kernel accepts, with segments that fit the window.
func smallWindow(_, _ string, socket syscall.RawConn) (failure error) {
	err := socket.Control(func(fd uintptr) {
		failure = errors.Join(
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG, 1400),
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 16<<10),
		)
	})
	return errors.Join(failure, err)
}

// slowPackets hides the socket from quic-go, so that its buffer stays small and overflows.
type slowPackets struct{ net.PacketConn }

func (s slowPackets) ReadFrom(p []byte) (int, net.Addr, error) {
	size, from, err := s.PacketConn.ReadFrom(p)
	time.Sleep(time.Duration(size) * time.Second / clientRate)
	return size, from, err
}

// client makes all its requests on one slow connection.
func (s *testServer) client(t *testing.T, protocol string) *http.Client {
	t.Helper()
	security := &tls.Config{RootCAs: s.trust, ServerName: testHost}
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	if protocol == "h3" {
		packets, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := packets.SetReadBuffer(32 << 10); err != nil {
			t.Fatal(err)
		}
		carrier := &quic.Transport{Conn: slowPackets{packets}}
		transport := &http3.Transport{
			TLSClientConfig: security,
			Dial: func(ctx context.Context, _ string, security *tls.Config, config *quic.Config) (*quic.Conn, error) {
				to, err := net.ResolveUDPAddr("udp", "127.0.0.1:"+s.port)
				if err != nil {
					return nil, err
				}
				return carrier.Dial(ctx, to, security, config)
			},
		}
		t.Cleanup(func() { transport.Close(); carrier.Close(); packets.Close() })
		return &http.Client{Transport: transport}
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		TLSClientConfig: security, Protocols: protocols,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			connection, err := (&net.Dialer{Control: smallWindow}).DialContext(ctx, "tcp", "127.0.0.1:"+s.port)
			if err != nil {
				return nil, err
			}
			return slowSocket{connection}, nil
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// transfer is a response being received.
type transfer struct {
	path     string
	received atomic.Int64
	// begun closes when the response begins, half when half of it has arrived.
	begun, half chan struct{}
}

// get starts a transfer; its end is written to ends.
func get(t *testing.T, client *http.Client, path, priority string, ends chan<- *transfer) *transfer {
	t.Helper()
	one := &transfer{path: path, begun: make(chan struct{}), half: make(chan struct{})}
	request, err := http.NewRequest(http.MethodGet, "https://"+testHost+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Priority", priority)
	go func() {
		defer func() { ends <- one }()
		response, err := client.Do(request)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		defer response.Body.Close()
		close(one.begun)
		buffer, half := make([]byte, 4096), sync.OnceFunc(func() { close(one.half) })
		for {
			size, err := response.Body.Read(buffer)
			if one.received.Add(int64(size)); one.received.Load() >= response.ContentLength/2 {
				half()
			}
			if err == io.EOF && one.received.Load() == response.ContentLength {
				return
			}
			if err != nil {
				t.Errorf("%s: %d of %d bytes: %v", path, one.received.Load(), response.ContentLength, err)
				return
			}
		}
	}()
	return one
}

func TestPriorities(t *testing.T) {
	for _, protocol := range []string{"h2", "h3"} {
		for _, priorities := range []string{"", site.PrioritiesIgnored} {
			t.Run(protocol+" "+priorities, func(t *testing.T) {
				server := newTestServer(t, priorities)
				for _, late := range []bool{false, true} {
					client := server.client(t, protocol)
					ends := make(chan *transfer, 3)
					// The connection is established before the measurement.
					get(t, client, "/1000?0", "u=3", ends)
					<-ends
					relaxedPath := "/300000?0"
					if late {
						relaxedPath = "/700000?0"
					}
					relaxed := get(t, client, relaxedPath, "u=5", ends)
					// Requests need not be sent in the order of the calls.
					<-relaxed.begun
					if late {
						<-relaxed.half
					}
					urgent := get(t, client, "/500000?1", "u=0", ends)
					first, second := <-ends, <-ends
					// With priorities the urgent one ends first; without, the one with fewer bytes left.
					if want := urgent; priorities == "" && first != want {
						t.Errorf("late %v: the urgent one was not first", late)
					} else if priorities != "" && first == want {
						t.Errorf("late %v: the urgent one was first though priorities are ignored", late)
					}
					if first.received.Load()+second.received.Load() != urgent.received.Load()+relaxed.received.Load() {
						t.Error("a transfer ended twice")
					}
				}
			})
		}
	}
}

func TestIncrementalOnesTakeTurns(t *testing.T) {
	for _, protocol := range []string{"h2", "h3"} {
		for _, incremental := range []bool{false, true} {
			priority := "u=2"
			if incremental {
				priority = "u=2, i"
			}
			t.Run(protocol+" "+priority, func(t *testing.T) {
				client := newTestServer(t, "").client(t, protocol)
				ends := make(chan *transfer, 3)
				get(t, client, "/1000?0", "", ends)
				<-ends
				var transfers []*transfer
				for n := range 3 {
					transfers = append(transfers, get(t, client, fmt.Sprintf("/300000?%d", n), priority, ends))
					// Requests need not be sent in the order of the calls.
					time.Sleep(10 * time.Millisecond)
				}
				first := <-ends
				least := min(transfers[1].received.Load(), transfers[2].received.Load())
				if incremental && least < 200_000 {
					t.Errorf("%d bytes of the least when the first was whole, want nearly all", least)
				}
				if !incremental && (first != transfers[0] || least > 100_000) {
					t.Errorf("%s was first, with %d bytes of the least; want them one after the other", first.path, least)
				}
				<-ends
				<-ends
			})
		}
	}
}

func TestNoHTTP1WhereItIsNotOnOffer(t *testing.T) {
	server := newTestServer(t, "")
	security := &tls.Config{RootCAs: server.trust, ServerName: testHost}
	ask := func() (answer string) {
		connection, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", server.port), security)
		if err != nil {
			return ""
		}
		defer connection.Close()
		fmt.Fprintf(connection, "GET /1000?0 HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", testHost)
		// In TLS 1.3 a client sees the refusal when it reads.
		text, _ := io.ReadAll(connection)
		return string(text)
	}
	if answer := ask(); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("on offer: got %.60q", answer)
	}
	if err := server.Change([]site.Origin{{Origin: "https://" + testHost, Protocols: []string{"h2", "h3"}}}); err != nil {
		t.Fatal(err)
	}
	if answer := ask(); answer != "" {
		t.Errorf("not on offer: got %.60q", answer)
	}
	// The client reads the refusal before the server logs it. Each Log has only what is new.
	complaints := ""
	for deadline := time.Now().Add(10 * time.Second); complaints == "" && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		complaints = strings.Join(server.Log().Errors, "")
	}
	if !strings.Contains(complaints, "HTTP/1.1 is not on offer") {
		t.Errorf("the server logged %q", complaints)
	}
}

func TestServersChangeAtOnce(t *testing.T) {
	server := newTestServer(t, "")
	for range 20 {
		again := site.Origin{Origin: "https://" + testHost, Protocols: []string{"h1", "h2", "h3"}}
		if err := server.Change([]site.Origin{again}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionsOutliveServers(t *testing.T) {
	for _, protocol := range []string{"h2", "h3"} {
		t.Run(protocol, func(t *testing.T) {
			server := newTestServer(t, "")
			security := &tls.Config{
				RootCAs: server.trust, ServerName: testHost, ClientSessionCache: tls.NewLRUClientSessionCache(1),
			}
			for _, resumes := range []bool{false, true, true} {
				server.fetchOnce(t, protocol, security)
				// The server logs a request after sending its answer.
				var log Log
				for limit := time.Now().Add(5 * time.Second); len(log.Entries) == 0 && time.Now().Before(limit); {
					time.Sleep(time.Millisecond)
					log = server.Log()
				}
				if len(log.Entries) != 1 || log.Entries[0].Resumed != resumes || log.Entries[0].Protocol != protocol {
					t.Errorf("got %+v, want one entry of %s, resumed: %v", log, protocol, resumes)
				}
				again := site.Origin{Origin: "https://" + testHost, Protocols: []string{"h1", "h2", "h3"}}
				if err := server.Change([]site.Origin{again}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestTLSVersion(t *testing.T) {
	server := newTestServer(t, "")
	for version, want := range map[string]uint16{"": tls.VersionTLS13, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		again := site.Origin{Origin: "https://" + testHost, Protocols: []string{"h1", "h2", "h3"}, TLSVersion: version}
		if err := server.Change([]site.Origin{again}); err != nil {
			t.Fatal(err)
		}
		connection, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", server.port), &tls.Config{RootCAs: server.trust, ServerName: testHost})
		if err != nil {
			t.Fatal(err)
		}
		if got := connection.ConnectionState().Version; got != want {
			t.Errorf("version %q: got %s, want %s", version, tls.VersionName(got), tls.VersionName(want))
		}
		// The server would complain of a connection without a request.
		fmt.Fprintf(connection, "GET /1000?0 HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", testHost)
		if _, err := io.Copy(io.Discard, connection); err != nil {
			t.Fatal(err)
		}
		connection.Close()
	}
}

func TestEarlyData(t *testing.T) {
	for _, accepts := range []bool{false, true} {
		server := newTestServer(t, "")
		origin := site.Origin{Origin: "https://" + testHost, Protocols: []string{"h1", "h2", "h3"}, EarlyData: accepts}
		security := &tls.Config{
			RootCAs: server.trust, ServerName: testHost, ClientSessionCache: tls.NewLRUClientSessionCache(1),
		}
		for visit := range 2 {
			if err := server.Change([]site.Origin{origin}); err != nil {
				t.Fatal(err)
			}
			server.fetchEarly(t, security)
			var log Log
			for limit := time.Now().Add(5 * time.Second); len(log.Entries) == 0 && time.Now().Before(limit); {
				time.Sleep(time.Millisecond)
				log = server.Log()
			}
			if want := accepts && visit == 1; len(log.Entries) != 1 || log.Entries[0].EarlyData != want {
				t.Errorf("visit %d, accepts %v: got %+v, want one entry, early data: %v", visit, accepts, log, want)
			}
		}
	}
}

// fetchEarly makes a request over HTTP/3 that goes as early data where the session allows it.
func (s *testServer) fetchEarly(t *testing.T, security *tls.Config) {
	t.Helper()
	transport := &http3.Transport{
		TLSClientConfig: security,
		Dial: func(ctx context.Context, _ string, security *tls.Config, config *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, net.JoinHostPort("127.0.0.1", s.port), security, config)
		},
	}
	defer transport.Close()
	request, err := http.NewRequest(http3.MethodGet0RTT, "https://"+testHost+"/1000?0", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
}

// fetchOnce makes a request on a new connection.
func (s *testServer) fetchOnce(t *testing.T, protocol string, security *tls.Config) {
	t.Helper()
	address := net.JoinHostPort("127.0.0.1", s.port)
	var transport http.RoundTripper
	if protocol == "h3" {
		quicTransport := &http3.Transport{
			TLSClientConfig: security,
			Dial: func(ctx context.Context, _ string, security *tls.Config, config *quic.Config) (*quic.Conn, error) {
				return quic.DialAddr(ctx, address, security, config)
			},
		}
		defer quicTransport.Close()
		transport = quicTransport
	} else {
		protocols := &http.Protocols{}
		protocols.SetHTTP2(true)
		tcpTransport := &http.Transport{
			TLSClientConfig: security, Protocols: protocols,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", address)
			},
		}
		defer tcpTransport.CloseIdleConnections()
		transport = tcpTransport
	}
	response, err := (&http.Client{Transport: transport}).Get("https://" + testHost + "/1000?0")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
}

func TestConnectionsHaveTheirServersCongestionControlAndPacing(t *testing.T) {
	for _, settings := range []site.Settings{
		{CongestionControl: "reno"}, {CongestionControl: "bbr"}, {CongestionControl: "cubic", PacingMbps: 8},
	} {
		config := net.ListenConfig{Control: configureTCP(settings)}
		listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		connection, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := connection.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var name string
		var rate int
		var failure error
		err = raw.Control(func(fd uintptr) {
			name, failure = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
			if failure == nil {
				rate, failure = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE)
			}
		})
		if err := errors.Join(err, failure, connection.Close(), client.Close(), listener.Close()); err != nil {
			t.Fatal(err)
		}
		if strings.TrimRight(name, "\x00") != settings.CongestionControl {
			t.Errorf("a connection of a server with %s has %q", settings.CongestionControl, name)
		}
		// Without a limit the kernel gives the largest value.
		if paced := settings.PacingMbps > 0; paced != (rate == 1_000_000) {
			t.Errorf("a connection of a server that paces at %v Mbit/s has %d bytes a second", settings.PacingMbps, rate)
		}
	}
	config := net.ListenConfig{Control: configureTCP(site.Settings{CongestionControl: "vegas-like"})}
	if _, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0"); err == nil {
		t.Error("an unknown congestion control was accepted")
	}
}
