package serve

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is a resource ready to send.
type answer struct {
	status int
	header http.Header
	body   []byte
	think  time.Duration
}

// originHandler answers the requests to one origin.
type originHandler struct {
	origin string
	host   string
	altSvc string
	// acceptCH asks clients for hints; empty for none.
	acceptCH string
	// starts is nil where connections begin as usual, and behind fronts.
	starts    *tcpStarts
	resources index
	// think is added to each answer's own.
	think time.Duration
	log   *recorder
	// ignorePriorities makes the transports share a connection equally among its responses.
	ignorePriorities bool
	// fronts are those that requests come through; nil for the Go servers.
	fronts *fronts
	// upstream answers in place of the resources; nil for none.
	upstream http.Handler
}

// arrival is how a request came to the server.
type arrival struct {
	// protocol is h1, h2 or h3.
	protocol string
	// connection numbers the connections of one server run.
	connection uint64
	// resumed is whether the connection's TLS handshake resumed an earlier session.
	resumed bool
	// earlyData is whether the connection began with early data (0-RTT).
	earlyData bool
}

func (h *originHandler) arrival(r *http.Request, on *connection) arrival {
	if h.fronts != nil {
		return h.fronts.arrival(r.Header)
	}
	return arrival{
		protocol: "h" + strconv.Itoa(r.ProtoMajor), connection: on.number,
		resumed: r.TLS != nil && r.TLS.DidResume, earlyData: on.beganEarly(),
	}
}

// The server sets these itself, so a site's values are ignored.
var ownHeaders = map[string]bool{
	"Alt-Svc": true, "Connection": true, "Content-Length": true, "Keep-Alive": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

var favicon = func() []byte {
	image, err := fillerPNG(1, 1, 80, 0)
	if err != nil {
		panic(err)
	}
	return image
}()

func (h *originHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	on := connectionOf(r)
	order := on.order(r)
	path := r.RequestURI
	if !strings.HasPrefix(path, "/") {
		path = r.URL.RequestURI()
	}
	came := h.arrival(r, on)
	if field := r.Header.Get(startRateHint); field != "" && h.starts != nil && on.socket != nil {
		h.starts.announce(on.socket, field)
	}
	if h.upstream != nil && h.isOwn(r) {
		entry := Entry{
			Origin: h.origin, Method: r.Method, Path: path, Protocol: came.protocol, Connection: came.connection,
			Resumed: came.resumed, EarlyData: came.earlyData, StartMs: float64(start.UnixMicro()) / 1e3,
		}
		defer func() {
			entry.DurationMs = float64(time.Since(start).Microseconds()) / 1e3
			h.log.add(entry)
		}()
		h.forward(w, r, &entry)
		return
	}
	found, answered := h.find(r, path)
	entry := Entry{
		Origin: h.origin, Method: r.Method, Path: path,
		Protocol: came.protocol, Connection: came.connection, Resumed: came.resumed, EarlyData: came.earlyData,
		Status: found.status, StartMs: float64(start.UnixMicro()) / 1e3, Miss: found == miss || found == misdirected,
	}
	if answered != path {
		entry.Answered = answered
	}
	defer func() {
		entry.DurationMs = float64(time.Since(start).Microseconds()) / 1e3
		h.log.add(entry)
	}()
	// The think time starts after the whole request has arrived, under every protocol.
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, maxRequestBytes)); err != nil {
			entry.Aborted = true
			return
		}
	}
	if think := h.think + found.think; think > 0 {
		select {
		case <-time.After(think):
		case <-r.Context().Done():
			entry.Aborted = true
			return
		}
	}
	header := w.Header()
	header.Set("Timing-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Cache-Control", "no-store")
	// Without a type in the site none is sent: the HTTP stacks would guess one.
	header["Content-Type"] = nil
	for name, values := range found.header {
		header[name] = values
	}
	// Sent over HTTP/3 too: a Chromium forced onto QUIC without having seen Alt-Svc delays requests of low priority as on
	// HTTP/1.1, unlike one that switched to HTTP/3 by itself.
	if h.altSvc != "" {
		header.Set("Alt-Svc", h.altSvc)
	}
	if h.acceptCH != "" {
		header.Set("Accept-CH", h.acceptCH)
	}
	bodiless := found.status == http.StatusNoContent || found.status == http.StatusNotModified
	if !bodiless {
		header.Set("Content-Length", strconv.Itoa(len(found.body)))
	}
	w.WriteHeader(found.status)
	if !bodiless && r.Method != http.MethodHead {
		written, err := h.send(w, r, on, order, found.body)
		entry.Bytes, entry.Aborted = written, err != nil
	}
}

// send writes a response's body, by priority where the connection carries several at once, and
// returns how much was written.
func (h *originHandler) send(w http.ResponseWriter, r *http.Request, on *connection, order uint64, body []byte) (int, error) {
	if r.ProtoMajor < 2 || h.ignorePriorities {
		return w.Write(body)
	}
	if err := on.boundUnsent(); err != nil {
		fmt.Fprintf(h.log, "%s: %v\n", h.origin, err)
	}
	flush := http.NewResponseController(w).Flush
	// Headers are small and do not wait for a turn.
	if err := flush(); err != nil {
		return 0, err
	}
	return on.turns.send(r.Context(), parsePriority(r.Header.Values("Priority")), order, body, func(chunk []byte) error {
		if _, err := w.Write(chunk); err != nil {
			return err
		}
		// The stack would buffer a small remainder and send it out of turn.
		return flush()
	})
}

var (
	miss        = text(http.StatusNotFound, "The site has no such resource.\n")
	misdirected = text(http.StatusMisdirectedRequest, "This server is another origin's.\n")
	icon        = &answer{status: http.StatusOK, header: http.Header{"Content-Type": {"image/png"}}, body: favicon}
)

// allowing answers a preflight with what it requests: "*" is not a wildcard for requests with credentials (Fetch standard,
// section 3.3.3).
func allowing(r *http.Request) *answer {
	header := http.Header{"Access-Control-Max-Age": {"600"}}
	for asked, allowed := range map[string]string{
		"Origin": "Access-Control-Allow-Origin", "Access-Control-Request-Method": "Access-Control-Allow-Methods",
		"Access-Control-Request-Headers": "Access-Control-Allow-Headers",
	} {
		if value := r.Header.Get(asked); value != "" {
			header.Set(allowed, value)
			header.Set("Access-Control-Allow-Credentials", "true")
		}
	}
	return &answer{status: http.StatusNoContent, header: header}
}

func text(status int, message string) *answer {
	return &answer{
		status: status, header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, body: []byte(message),
	}
}

// isOwn is whether a request is for this origin.
func (h *originHandler) isOwn(r *http.Request) bool {
	host, _, _ := strings.Cut(r.Host, ":")
	return strings.EqualFold(host, h.host)
}

// find returns the answer and its resource's path, or the requested path where there is none.
func (h *originHandler) find(r *http.Request, path string) (*answer, string) {
	if !h.isOwn(r) {
		return misdirected, path
	}
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		return allowing(r), path
	}
	if found, ok := h.resources.find(r.Method, path, requestDigest(r)); ok {
		return asAsked(found.answer, r), found.target
	}
	if path == "/favicon.ico" {
		return icon, path
	}
	return miss, path
}
