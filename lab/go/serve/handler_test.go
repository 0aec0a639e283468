package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func newHandler() *originHandler {
	resources := newIndex()
	for target, answer := range map[string]*answer{
		"/x?a=1": {status: 200, header: http.Header{"Cache-Control": {"max-age=60"}, "Content-Type": {"text/css"}}, body: []byte("body")},
		"/slow":  {status: 200, header: http.Header{}, body: []byte("late"), think: 30 * time.Millisecond},
		"/empty": {status: 204, header: http.Header{}},
	} {
		resources.add(candidate{target: target, answer: answer})
	}
	return &originHandler{
		origin: "https://a.test", host: "a.test", altSvc: altSvc, log: &recorder{}, resources: resources,
	}
}

func request(h http.Handler, method, url string, header http.Header) *http.Response {
	r := httptest.NewRequest(method, url, nil)
	r.RequestURI = r.URL.RequestURI()
	r.Header = header
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder.Result()
}

func TestAnswers(t *testing.T) {
	h := newHandler()
	for _, c := range []struct {
		method, url string
		status      int
		bytes       int
		miss        bool
	}{
		{"GET", "https://a.test/x?a=1", 200, 4, false},
		{"HEAD", "https://a.test/x?a=1", 200, 0, false},
		{"POST", "https://a.test/x?a=1", 200, 4, false},
		{"GET", "https://a.test/x?a=2", 404, len(miss.body), true},
		{"GET", "https://a.test/x", 404, len(miss.body), true},
		{"GET", "https://a.test/empty", 204, 0, false},
		{"GET", "https://a.test/favicon.ico", 200, len(favicon), false},
		{"GET", "https://b.test/x?a=1", 421, len(misdirected.body), true},
	} {
		response := request(h, c.method, c.url, http.Header{})
		log := h.log.take()
		if response.StatusCode != c.status || len(log.Entries) != 1 {
			t.Fatalf("%s %s: status %d, %d log entries", c.method, c.url, response.StatusCode, len(log.Entries))
		}
		if entry := log.Entries[0]; entry.Bytes != c.bytes || entry.Miss != c.miss || entry.Status != c.status || entry.Protocol != "h1" {
			t.Errorf("%s %s: logged %+v", c.method, c.url, entry)
		}
	}
}

func TestHeaders(t *testing.T) {
	h := newHandler()
	header := request(h, "GET", "https://a.test/x?a=1", http.Header{}).Header
	for name, want := range map[string]string{
		"Alt-Svc": `h3=":443"; ma=86400`, "Timing-Allow-Origin": "*", "Access-Control-Allow-Origin": "*",
		"Cache-Control": "max-age=60", "Content-Type": "text/css", "Content-Length": "4",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := request(h, "GET", "https://a.test/slow", http.Header{}).Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control without the site's own: %q", got)
	}
	asked := http.Header{"Origin": {"https://b.test"}, "Access-Control-Request-Method": {"PUT"}}
	if response := request(h, "OPTIONS", "https://a.test/nowhere", asked); response.StatusCode != 204 ||
		response.Header.Get("Access-Control-Allow-Methods") != "PUT" || response.Header.Get("Access-Control-Allow-Origin") != "https://b.test" {
		t.Errorf("preflight: %d %v", response.StatusCode, response.Header)
	}
}

func TestThinkTime(t *testing.T) {
	h := newHandler()
	start := time.Now()
	request(h, "GET", "https://a.test/slow", http.Header{})
	if elapsed := time.Since(start); elapsed < 30*time.Millisecond {
		t.Errorf("answered after %v", elapsed)
	}
}

func TestThinkTimeEndsWithTheClient(t *testing.T) {
	h := newHandler()
	h.think = time.Minute
	ctx, leave := context.WithCancel(context.Background())
	leave()
	r := httptest.NewRequest("GET", "https://a.test/slow", nil).WithContext(ctx)
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	entries := h.log.take().Entries
	if len(entries) != 1 || !entries[0].Aborted || entries[0].Bytes != 0 || recorder.Body.Len() > 0 {
		t.Errorf("%+v, %d bytes of an answer", entries, recorder.Body.Len())
	}
}

// slowBody is a request's body that comes late.
type slowBody struct{ left int }

func (b *slowBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(10 * time.Millisecond)
	b.left--
	return copy(p, "x"), nil
}

func TestRequestIsReadWholeBeforeItIsAnswered(t *testing.T) {
	h := newHandler()
	body := &slowBody{left: 5}
	r := httptest.NewRequest("POST", "https://a.test/slow", body)
	recorder := httptest.NewRecorder()
	start := time.Now()
	h.ServeHTTP(recorder, r)
	if elapsed := time.Since(start); body.left > 0 || elapsed < 80*time.Millisecond || recorder.Body.String() != "late" {
		t.Errorf("%d bytes left, answered after %v: %q", body.left, elapsed, recorder.Body)
	}
}

func TestLogIsBounded(t *testing.T) {
	r := &recorder{}
	for i := range maxEntries + 5 {
		r.add(Entry{Bytes: i})
	}
	log := r.take()
	if len(log.Entries) != maxEntries || log.Dropped != 5 || log.Entries[0].Bytes != 5 || log.Entries[maxEntries-1].Bytes != maxEntries+4 {
		t.Errorf("%d entries from %d to %d, %d dropped", len(log.Entries), log.Entries[0].Bytes, log.Entries[len(log.Entries)-1].Bytes, log.Dropped)
	}
	if again := r.take(); len(again.Entries) != 0 || again.Dropped != 0 {
		t.Errorf("%d entries left", len(again.Entries))
	}
}

func TestHTTP3IsOfferedOverHTTP3Too(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "https://a.test/x?a=1", nil)
	r.RequestURI = r.URL.RequestURI()
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/3.0", 3, 0
	recorder := httptest.NewRecorder()
	newHandler().ServeHTTP(recorder, r)
	if got := recorder.Result().Header.Get("Alt-Svc"); got != altSvc {
		t.Errorf("Alt-Svc %q, want %q", got, altSvc)
	}
}
