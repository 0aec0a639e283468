package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestMatching(t *testing.T) {
	x := newIndex()
	for _, c := range []candidate{
		{method: "GET", target: "/"},
		{method: "GET", target: "/list?page=1&lang=en&_=1700000000001"},
		{method: "GET", target: "/list?page=2&lang=en&_=1700000000002"},
		{method: "GET", target: "/list?page=2&lang=de&_=1700000000003"},
		{method: "GET", target: "/api?id=10001&_=1700000000001"},
		{method: "GET", target: "/api?id=10002&_=1700000000002"},
		{method: "GET", target: "/load?modules=a"},
		{method: "GET", target: "/pixel?0.1234567"},
		{method: "GET", target: "/user?id=c9bf9e57-1685-4c89-bafb-ff5af830be8a"},
		{method: "GET", target: "/both?x=1&y=1"},
		{method: "GET", target: "/both?x=2&y=2"},
		{method: "POST", target: "/graph", digest: digestOf("one")},
		{method: "POST", target: "/graph", digest: digestOf("two")},
		{target: "/any"},
	} {
		x.add(c)
	}
	for _, c := range []struct{ method, target, body, want string }{
		{"GET", "/", "", "/"},
		{"HEAD", "/", "", "/"},
		{"POST", "/", "", ""},
		{"GET", "/graph", "", ""},
		{"GET", "/any", "", "/any"},
		{"DELETE", "/any", "", "/any"},
		{"GET", "/?", "", "/"},
		{"GET", "/?_=1700000000000", "", "/"},
		{"GET", "/?utm_source=mail", "", ""},
		{"GET", "/list?page=1&lang=en&_=1800000000000", "", "/list?page=1&lang=en&_=1700000000001"},
		{"GET", "/list?_=1800000000000&lang=en&page=2", "", "/list?page=2&lang=en&_=1700000000002"},
		{"GET", "/list?page=2&lang=de&_=1", "", "/list?page=2&lang=de&_=1700000000003"},
		// A cache-busting value that is equal by chance counts no more than another.
		{"GET", "/list?page=9&lang=xx&_=1700000000002", "", ""},
		{"GET", "/list?page=2&lang=de&_=1700000000002", "", "/list?page=2&lang=de&_=1700000000003"},
		{"GET", "/api?id=10002&_=1700000000001", "", "/api?id=10002&_=1700000000002"},
		// Among equals, the first.
		{"GET", "/list?page=7&lang=en", "", "/list?page=1&lang=en&_=1700000000001"},
		{"GET", "/both?x=1&y=2", "", "/both?x=1&y=1"},
		{"GET", "/load?modules=b", "", ""},
		{"GET", "/load", "", ""},
		{"GET", "/pixel?0.7654321", "", "/pixel?0.1234567"},
		{"GET", "/user?id=00000000-1685-4c89-bafb-ff5af830be8a", "", "/user?id=c9bf9e57-1685-4c89-bafb-ff5af830be8a"},
		{"POST", "/graph", "two", "/graph"},
		{"POST", "/graph", "three", "/graph"},
		{"GET", "/nowhere", "", ""},
		{"GET", "/list?%zz&page=1", "", "/list?page=1&lang=en&_=1700000000001"},
	} {
		found, ok := x.find(c.method, c.target, func() string { return digestOf(c.body) })
		if ok != (c.want != "") || found.target != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.target, found.target, c.want)
		}
		if c.body == "two" && found.digest != digestOf("two") {
			t.Errorf("%s %s: the answer to another body", c.method, c.target)
		}
	}
}

func TestRequestBodyTellsPostsApart(t *testing.T) {
	h := newHandler()
	for _, body := range []string{"one", "two"} {
		h.resources.add(candidate{method: "POST", target: "/graph", digest: digestOf(body), answer: &answer{
			status: 200, header: http.Header{}, body: []byte("answer to " + body),
		}})
	}
	for _, body := range []string{"two", "one"} {
		r := httptest.NewRequest("POST", "https://a.test/graph", strings.NewReader(body))
		r.RequestURI = "/graph"
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, r)
		if got := recorder.Body.String(); got != "answer to "+body {
			t.Errorf("%s: got %q", body, got)
		}
	}
}

func TestLogNamesTheSimilarResource(t *testing.T) {
	h := newHandler()
	request(h, "GET", "https://a.test/x?a=1&_=1700000000000", http.Header{})
	request(h, "GET", "https://a.test/x?a=1", http.Header{})
	log := h.log.take()
	if log.Entries[0].Answered != "/x?a=1" || log.Entries[0].Miss || log.Entries[1].Answered != "" {
		t.Errorf("%+v", log.Entries)
	}
}
