package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// Upstream is a server outside the lab that answers an origin's requests.
type Upstream struct {
	// Socket is the path of a Unix socket that leads to the server: the namespaces have networks of their own, but share the file
	// system.
	Socket string `json:"socket"`
	// URL is the server's origin where it runs, such as http://localhost:3000.
	URL string `json:"url"`
}

// Check validates an upstream of the lab's configuration.
func (u Upstream) Check() error {
	if !strings.HasPrefix(u.Socket, "/") {
		return fmt.Errorf(".socket: expected an absolute path, got %q", u.Socket)
	}
	at, err := url.Parse(u.URL)
	if err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") || (at.Path != "" && at.Path != "/") {
		return fmt.Errorf(".url: expected http://host:port or https://host:port, got %q", u.URL)
	}
	return nil
}

// newUpstreamProxy forwards requests to an upstream as if the browser had sent them there: servers in development refuse other
// hosts, and compare a request's origin with their own. Redirects to the upstream lead back to the origin.
func newUpstreamProxy(upstream Upstream, origin, altSvc string, log *recorder) (http.Handler, error) {
	if err := upstream.Check(); err != nil {
		return nil, fmt.Errorf("%s%w", origin, err)
	}
	target, err := url.Parse(strings.TrimRight(upstream.URL, "/"))
	if err != nil {
		return nil, err
	}
	own := target.Scheme + "://" + target.Host
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
			for _, name := range []string{"Origin", "Referer"} {
				if value := r.Out.Header.Get(name); strings.HasPrefix(value, origin) {
					r.Out.Header.Set(name, own+strings.TrimPrefix(value, origin))
				}
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			if place := answer.Header.Get("Location"); place == own || strings.HasPrefix(place, own+"/") {
				answer.Header.Set("Location", origin+strings.TrimPrefix(place, own))
			}
			// The resource timings of all origins can be read in the lab.
			answer.Header.Set("Timing-Allow-Origin", "*")
			answer.Header.Del("Alt-Svc")
			if altSvc != "" {
				answer.Header.Set("Alt-Svc", altSvc)
			}
			return nil
		},
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", upstream.Socket)
			},
			// Servers in development have certificates of their own making.
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true, ServerName: target.Hostname()},
			DisableCompression: true,
		},
		// Events of a stream are passed on as they come.
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			fmt.Fprintf(log, "%s: %s does not answer: %v\n", origin, own, err)
			http.Error(w, fmt.Sprintf("%s does not answer.", own), http.StatusBadGateway)
		},
	}, nil
}

// countingWriter counts what is written of a response, for the log.
type countingWriter struct {
	http.ResponseWriter
	status, bytes int
}

func (w *countingWriter) WriteHeader(status int) {
	// Status 103 and the like come before the answer's own.
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(part []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	written, err := w.ResponseWriter.Write(part)
	w.bytes += written
	return written, err
}

// Unwrap lets http.ResponseController reach what can flush and be taken over.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// forward answers a request from the upstream.
func (h *originHandler) forward(w http.ResponseWriter, r *http.Request, entry *Entry) {
	counted := &countingWriter{ResponseWriter: w}
	defer func() {
		entry.Status, entry.Bytes = counted.status, counted.bytes
		// The proxy panics where the upstream ends an answer too soon, so that the client sees that too.
		if failure := recover(); failure != nil {
			entry.Aborted = true
			panic(failure)
		}
		entry.Aborted = r.Context().Err() != nil
	}()
	h.upstream.ServeHTTP(counted, r)
}
