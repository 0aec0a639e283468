package serve

import (
	"net/http"
	"testing"
)

func TestConditions(t *testing.T) {
	const modified = "Tue, 03 Nov 2026 10:00:00 GMT"
	h := newHandler()
	for target, header := range map[string]http.Header{
		"/tagged": {"Etag": {`W/"a,1"`}, "Last-Modified": {modified}, "Content-Type": {"text/css"}, "Cache-Control": {"no-cache"}},
		"/dated":  {"Last-Modified": {modified}},
		"/plain":  {},
		"/ranged": {"Etag": {`"b"`}, "Accept-Ranges": {"bytes"}},
	} {
		h.resources.add(candidate{target: target, answer: &answer{status: 200, header: header, body: []byte("body")}})
	}
	for _, c := range []struct {
		method, target, name, value string
		status                      int
	}{
		{"GET", "/tagged", "If-None-Match", `"z"`, 200},
		{"GET", "/tagged", "If-None-Match", `W/"a`, 200},
		{"GET", "/tagged", "If-None-Match", `"z", "a,1"`, 304},
		{"GET", "/ranged", "If-None-Match", `W/"b"`, 304},
		{"GET", "/ranged", "If-None-Match", `"z", "b"`, 304},
		{"HEAD", "/ranged", "If-None-Match", `"b"`, 304},
		{"POST", "/ranged", "If-None-Match", `"b"`, 200},
		{"GET", "/plain", "If-None-Match", `*`, 304},
		{"GET", "/plain", "If-None-Match", ``, 200},
		{"GET", "/dated", "If-Modified-Since", modified, 304},
		{"GET", "/dated", "If-Modified-Since", "Wed, 04 Nov 2026 10:00:00 GMT", 304},
		{"GET", "/dated", "If-Modified-Since", "Mon, 02 Nov 2026 10:00:00 GMT", 200},
		{"GET", "/dated", "If-Modified-Since", "yesterday", 200},
		{"GET", "/plain", "If-Modified-Since", modified, 200},
	} {
		if got := request(h, c.method, "https://a.test"+c.target, http.Header{c.name: {c.value}}).StatusCode; got != c.status {
			t.Errorf("%s %s, %s: %s: got %d, want %d", c.method, c.target, c.name, c.value, got, c.status)
		}
	}
	// The tag takes precedence over the date, and conditions over the range.
	both := http.Header{"If-None-Match": {`"z"`}, "If-Modified-Since": {modified}}
	if got := request(h, "GET", "https://a.test/tagged", both).StatusCode; got != 200 {
		t.Errorf("another tag and the same date: got %d, want 200", got)
	}
	part := http.Header{"If-None-Match": {`"b"`}, "Range": {"bytes=0-1"}}
	response := request(h, "GET", "https://a.test/ranged", part)
	if response.StatusCode != 304 || response.ContentLength > 0 || response.Header.Get("Etag") != `"b"` {
		t.Errorf("a range of what is known: got %d, %v", response.StatusCode, response.Header)
	}
	response = request(h, "GET", "https://a.test/dated", http.Header{"If-Modified-Since": {modified}})
	if response.Header.Get("Last-Modified") != modified || response.Header.Get("Content-Type") != "" {
		t.Errorf("304 with the header %v", response.Header)
	}
}

func TestRanges(t *testing.T) {
	h := newHandler()
	h.resources.add(candidate{method: "GET", target: "/film", answer: &answer{
		status: 200, header: http.Header{"Accept-Ranges": {"bytes"}}, body: []byte("0123456789"),
	}})
	for _, c := range []struct {
		asked         string
		status        int
		content, body string
	}{
		{"bytes=0-", 206, "bytes 0-9/10", "0123456789"},
		{"bytes=2-4", 206, "bytes 2-4/10", "234"},
		{"bytes=8-99", 206, "bytes 8-9/10", "89"},
		{"bytes=-3", 206, "bytes 7-9/10", "789"},
		{"bytes=-99", 206, "bytes 0-9/10", "0123456789"},
		{"bytes=10-", 416, "bytes */10", ""},
		{"bytes=5-4", 200, "", "0123456789"},
		{"bytes=-", 200, "", "0123456789"},
		{"bytes=0-1,3-4", 200, "", "0123456789"},
		{"lines=0-1", 200, "", "0123456789"},
		{"", 200, "", "0123456789"},
	} {
		response := request(h, "GET", "https://a.test/film", http.Header{"Range": {c.asked}})
		body := make([]byte, 20)
		n, _ := response.Body.Read(body)
		if response.StatusCode != c.status || response.Header.Get("Content-Range") != c.content || string(body[:n]) != c.body {
			t.Errorf("%q: got %d %q %q", c.asked, response.StatusCode, response.Header.Get("Content-Range"), body[:n])
		}
	}
	if response := request(h, "GET", "https://a.test/x?a=1", http.Header{"Range": {"bytes=0-1"}}); response.StatusCode != 200 {
		t.Errorf("a server that takes no ranges answered %d", response.StatusCode)
	}
	if response := request(h, "HEAD", "https://a.test/film", http.Header{"Range": {"bytes=0-1"}}); response.StatusCode != 200 {
		t.Errorf("a range of a HEAD was answered with %d", response.StatusCode)
	}
}

func TestIfRange(t *testing.T) {
	const modified = "Tue, 03 Nov 2026 10:00:00 GMT"
	h := newHandler()
	for target, header := range map[string]http.Header{
		"/strong": {"Accept-Ranges": {"bytes"}, "Etag": {`"a"`}, "Last-Modified": {modified}},
		"/weak":   {"Accept-Ranges": {"bytes"}, "Etag": {`W/"a"`}},
		"/plain":  {"Accept-Ranges": {"bytes"}},
	} {
		h.resources.add(candidate{target: target, answer: &answer{status: 200, header: header, body: []byte("0123456789")}})
	}
	for _, c := range []struct {
		target string
		named  []string
		status int
	}{
		{"/strong", []string{`"a"`}, 206},
		{"/strong", []string{`"b"`}, 200},
		{"/strong", []string{`W/"a"`}, 200},
		{"/strong", []string{`"b", "a"`}, 200},
		{"/strong", []string{`"a"`, `"a"`}, 200},
		{"/strong", []string{""}, 200},
		{"/strong", []string{modified}, 206},
		// The same moment in the obsolete formats.
		{"/strong", []string{"Tuesday, 03-Nov-26 10:00:00 GMT"}, 206},
		{"/strong", []string{"Tue Nov  3 10:00:00 2026"}, 206},
		{"/strong", []string{"Tue, 03 Nov 2026 10:00:01 GMT"}, 200},
		{"/strong", []string{"Mon, 02 Nov 2026 10:00:00 GMT"}, 200},
		{"/strong", []string{"yesterday"}, 200},
		{"/weak", []string{`W/"a"`}, 200},
		{"/weak", []string{`"a"`}, 200},
		{"/weak", []string{modified}, 200},
		{"/plain", []string{`""`}, 200},
		{"/plain", []string{modified}, 200},
		{"/plain", nil, 206},
	} {
		header := http.Header{"Range": {"bytes=2-4"}}
		if c.named != nil {
			header["If-Range"] = c.named
		}
		if got := request(h, "GET", "https://a.test"+c.target, header).StatusCode; got != c.status {
			t.Errorf("%s, If-Range: %q: got %d, want %d", c.target, c.named, got, c.status)
		}
	}
	// Where the whole comes, also a range that none could have is of no account.
	beyond := http.Header{"Range": {"bytes=10-"}, "If-Range": {`"b"`}}
	if response := request(h, "GET", "https://a.test/strong", beyond); response.StatusCode != 200 || response.ContentLength != 10 {
		t.Errorf("a range beyond the end of another version: got %d, %d bytes", response.StatusCode, response.ContentLength)
	}
	without := http.Header{"If-Range": {`"b"`}}
	if response := request(h, "GET", "https://a.test/strong", without); response.StatusCode != 200 {
		t.Errorf("If-Range without a range: got %d", response.StatusCode)
	}
}
