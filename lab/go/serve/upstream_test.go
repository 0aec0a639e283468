package serve

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// startUpstream serves answer on a Unix socket and returns an origin's handler in front of it.
func startUpstream(t *testing.T, answer http.HandlerFunc) *originHandler {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: answer}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	h := newHandler()
	h.upstream, err = newUpstreamProxy(Upstream{Socket: socket, URL: "http://localhost:3000"}, h.origin, h.altSvc, h.log)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestUpstreamSeesItsOwnHostAndOrigin(t *testing.T) {
	h := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Join([]string{r.Method, r.Host, r.RequestURI, r.Header.Get("Origin"), r.Header.Get("Referer")}, " "))
	})
	header := http.Header{"Origin": {"https://a.test"}, "Referer": {"https://a.test/from"}}
	response := request(h, "POST", "https://a.test/x?a=1", header)
	body, _ := io.ReadAll(response.Body)
	if want := "POST localhost:3000 /x?a=1 http://localhost:3000 http://localhost:3000/from"; string(body) != want {
		t.Errorf("the upstream saw %q, expected %q", body, want)
	}
	if got := response.Header.Get("Alt-Svc"); got != altSvc {
		t.Errorf("Alt-Svc is %q", got)
	}
	log := h.log.take()
	if entry := log.Entries[0]; len(log.Entries) != 1 || entry.Status != 200 || entry.Bytes != len(body) || entry.Miss || entry.Aborted {
		t.Errorf("logged %+v", log.Entries)
	}
}

func TestRedirectsOfAnUpstreamStayBehindTheLink(t *testing.T) {
	for place, want := range map[string]string{
		"http://localhost:3000/next": "https://a.test/next",
		"http://localhost:3000":      "https://a.test",
		"/next":                      "/next",
		"http://localhost:30001/":    "http://localhost:30001/",
		"https://elsewhere.test/":    "https://elsewhere.test/",
	} {
		h := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", place)
			w.WriteHeader(http.StatusFound)
		})
		if got := request(h, "GET", "https://a.test/", http.Header{}).Header.Get("Location"); got != want {
			t.Errorf("%s became %s, expected %s", place, got, want)
		}
	}
}

func TestAnUpstreamThatDoesNotAnswer(t *testing.T) {
	h := newHandler()
	var err error
	h.upstream, err = newUpstreamProxy(Upstream{Socket: "/none", URL: "http://localhost:3000"}, h.origin, "", h.log)
	if err != nil {
		t.Fatal(err)
	}
	response := request(h, "GET", "https://a.test/", http.Header{})
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "http://localhost:3000 does not answer") {
		t.Errorf("status %d, %q", response.StatusCode, body)
	}
}

func TestAnUpstreamAnswersForItsOriginOnly(t *testing.T) {
	h := startUpstream(t, func(http.ResponseWriter, *http.Request) { t.Error("the upstream was asked") })
	if response := request(h, "GET", "https://b.test/", http.Header{}); response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestUpstreamsAreChecked(t *testing.T) {
	for _, wrong := range []Upstream{
		{Socket: "s", URL: "http://localhost:3000"}, {Socket: "/s", URL: "localhost:3000"},
		{Socket: "/s", URL: "ftp://localhost"}, {Socket: "/s", URL: "http://localhost:3000/path"},
	} {
		if err := wrong.Check(); err == nil {
			t.Errorf("%+v was accepted", wrong)
		}
	}
	if err := (Upstream{Socket: "/s", URL: "https://localhost:3000"}).Check(); err != nil {
		t.Error(err)
	}
}
