// Package check is a small HTTP client for testing the lab from inside.
package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"hopwise/lab/ahead"
	"hopwise/lab/netns"
)

// Result is one transfer or one connection.
type Result struct {
	URL      string `json:"url"`
	Protocol string `json:"protocol"`
	Status   int    `json:"status,omitempty"`
	Bytes    int64  `json:"bytes"`
	// ConnectMs is the TCP handshake alone; with QUIC it is the whole handshake with TLS.
	ConnectMs float64 `json:"connectMs"`
	// RTTMs is the kernel's own measurement of the TCP handshake.
	RTTMs float64 `json:"rttMs,omitempty"`
	// SentMs is when the request was completely written.
	SentMs  float64 `json:"sentMs"`
	TTFBMs  float64 `json:"ttfbMs"`
	TotalMs float64 `json:"totalMs"`
	// BitsPerSecond is the goodput of the body's last three quarters, past slow start.
	BitsPerSecond float64 `json:"bitsPerSecond"`
	// LinkBitsPerSecond counts all the IP packets that the device received meanwhile.
	LinkBitsPerSecond float64 `json:"linkBitsPerSecond"`
	// AltSvc is the Alt-Svc header.
	AltSvc string `json:"altSvc,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Run makes the transfers one after the other, each on a new connection or all on one (--keep), and writes a JSON line for
// each. Failed transfers are reported as results.
func Run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	ca := flags.String("ca", "", "")
	protocol := flags.String("protocol", "h1", "")
	connects := flags.Int("connects", 0, "")
	timeout := flags.Duration("timeout", time.Minute, "")
	first := flags.Bool("ahead", false, "")
	keep := flags.Bool("keep", false, "")
	startRate := flags.String("start-rate", "", "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if *first {
		if err := ahead.Again(); err != nil {
			return fmt.Errorf("check: --ahead: %w", err)
		}
	}
	results := json.NewEncoder(out)
	var kept *http.Client
	if *keep {
		client, closeClient, err := newClient(*protocol, *ca)
		if err != nil {
			return err
		}
		defer closeClient()
		kept = client
	}
	for _, address := range flags.Args() {
		target, err := url.Parse(address)
		if err != nil || target.Scheme != "https" {
			return fmt.Errorf("check: expected an https URL, got %q", address)
		}
		for range *connects {
			if err := results.Encode(connect(target, *timeout)); err != nil {
				return err
			}
		}
		if *connects > 0 {
			continue
		}
		if kept != nil {
			if err := results.Encode(fetch(kept, address, *startRate, *timeout)); err != nil {
				return err
			}
			continue
		}
		client, closeClient, err := newClient(*protocol, *ca)
		if err != nil {
			return err
		}
		result := fetch(client, address, *startRate, *timeout)
		if err := errors.Join(closeClient(), results.Encode(result)); err != nil {
			return err
		}
	}
	return nil
}

// connect makes a TCP connection.
func connect(target *url.URL, timeout time.Duration) Result {
	result := Result{URL: target.String(), Protocol: "tcp"}
	addresses, err := net.LookupHost(target.Hostname())
	if err != nil {
		result.Error = err.Error()
		return result
	}
	start := time.Now()
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(addresses[0], "443"), timeout)
	result.ConnectMs = since(start)
	if err == nil {
		result.RTTMs, err = handshakeRTT(connection.(*net.TCPConn))
		err = errors.Join(err, connection.Close())
	}
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

func handshakeRTT(connection *net.TCPConn) (ms float64, err error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return 0, err
	}
	var info *unix.TCPInfo
	var failure error
	err = raw.Control(func(fd uintptr) {
		info, failure = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if err = errors.Join(err, failure); err != nil {
		return 0, err
	}
	return float64(info.Rtt) / 1e3, nil
}

// chromiumWindows are Chromium's receive windows (net/quic/quic_context.h): quic-go's own start so small that they limit fast
// transfers.
var chromiumWindows = &quic.Config{
	InitialStreamReceiveWindow: 6 << 20, MaxStreamReceiveWindow: 6 << 20,
	InitialConnectionReceiveWindow: 15 << 20, MaxConnectionReceiveWindow: 15 << 20,
}

func newClient(protocol, caFile string) (client *http.Client, closeClient func() error, err error) {
	trust := x509.NewCertPool()
	text, err := os.ReadFile(caFile)
	if err != nil {
		return nil, nil, fmt.Errorf("check: --ca: %w", err)
	}
	if !trust.AppendCertsFromPEM(text) {
		return nil, nil, fmt.Errorf("check: --ca: %s has no certificate", caFile)
	}
	security := &tls.Config{RootCAs: trust}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	protocols := &http.Protocols{}
	switch protocol {
	case "h3":
		transport := &http3.Transport{TLSClientConfig: security, DisableCompression: true, QUICConfig: chromiumWindows}
		return &http.Client{Transport: transport, CheckRedirect: noRedirect}, transport.Close, nil
	case "h1":
		protocols.SetHTTP1(true)
	case "h2":
		protocols.SetHTTP2(true)
	default:
		return nil, nil, fmt.Errorf("check: --protocol: expected h1, h2 or h3, got %q", protocol)
	}
	transport := &http.Transport{TLSClientConfig: security, DisableCompression: true, Protocols: protocols}
	closeClient = func() error {
		transport.CloseIdleConnections()
		return nil
	}
	return &http.Client{Transport: transport, CheckRedirect: noRedirect}, closeClient, nil
}

// fetch announces a start rate, unless it is empty.
func fetch(client *http.Client, address, startRate string, timeout time.Duration) (result Result) {
	result.URL = address
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	start := time.Now()
	trace := &httptrace.ClientTrace{
		ConnectDone:          func(_, _ string, _ error) { result.ConnectMs = since(start) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { result.SentMs = since(start) },
		GotFirstResponseByte: func() { result.TTFBMs = since(start) },
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodGet, address, nil)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	if startRate != "" {
		request.Header.Set("Start-Rate", startRate)
	}
	response, err := client.Do(request)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	defer response.Body.Close()
	if result.TTFBMs == 0 {
		result.TTFBMs = since(start)
	}
	result.Protocol, result.Status = fmt.Sprintf("h%d", response.ProtoMajor), response.StatusCode
	result.AltSvc = response.Header.Get("Alt-Svc")
	err = read(response, &result)
	result.TotalMs = since(start)
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

func read(response *http.Response, result *Result) error {
	buffer := make([]byte, 64<<10)
	var markTime time.Time
	var markBytes, markReceived int64
	for {
		size, err := response.Body.Read(buffer)
		result.Bytes += int64(size)
		if err != nil && err != io.EOF {
			return err
		}
		if markBytes == 0 && result.Bytes*4 >= response.ContentLength {
			received, failure := receivedBytes()
			if failure != nil {
				return failure
			}
			markTime, markBytes, markReceived = time.Now(), result.Bytes, received
		}
		if err == io.EOF {
			elapsed := time.Since(markTime).Seconds()
			received, failure := receivedBytes()
			result.BitsPerSecond = float64(result.Bytes-markBytes) * 8 / elapsed
			result.LinkBitsPerSecond = float64(received-markReceived) * 8 / elapsed
			return failure
		}
	}
}

// receivedBytes is the lab device's own count. /proc knows this process's namespace; /sys shows the
// one that it was mounted in.
func receivedBytes() (int64, error) {
	text, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, counts, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(name) == netns.DeviceName {
			return strconv.ParseInt(strings.Fields(counts)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("there is no device %s here: run this inside a lab", netns.DeviceName)
}

func since(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1e3 }
