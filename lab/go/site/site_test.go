package site

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const good = `{
  "format": "hopwise-site", "version": 1, "name": "test", "entry": "https://a.test/",
  "origins": [{"origin": "https://a.test", "protocols": ["h1", "h2"], "extraRttMs": 0}],
  "resources": [
    {"origin": "https://a.test", "path": "/?x=1", "status": 200, "headers": {"Content-Type": "text/html"},
     "body": {"file": "pages/index.html"}, "thinkMs": 5},
    {"origin": "https://a.test", "path": "/b", "status": 200, "headers": {},
     "body": {"filler": "bytes", "bytes": 10}, "thinkMs": 0}
  ]
}`

func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pages"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"site.json": text, "pages/index.html": "<!doctype html>"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpen(t *testing.T) {
	site, err := Open(write(t, good))
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	body, err := site.ReadBody(*site.Resources[0].Body.File)
	if err != nil || string(body) != "<!doctype html>" {
		t.Errorf("body %q, %v", body, err)
	}
	if site.Origins[0].Host() != "a.test" || site.Resources[0].ThinkMs != 5 {
		t.Errorf("%+v", site)
	}
}

func TestErrorsNameTheEntry(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"hopwise-site"`, `"har"`, `format: expected "hopwise-site", got "har"`},
		{`"version": 1`, `"version": 2`, "version: expected 1, got 2"},
		{`"version": 1`, `"version": "1"`, "line 2: version: expected a number, got a string"},
		{`"version": 1`, `"version": 1, "extra": 0`, `unknown field "extra"`},
		{`https://a.test/"`, `https://b.test/"`, "entry: expected a URL on one of the origins"},
		{`"origins": [{"origin": "https://a.test"`, `"origins": [{"origin": "http://a.test"`, "origins[0].origin: expected https://host"},
		{`["h1", "h2"]`, `["h1", "h4"]`, `origins[0].protocols[1]: expected h1, h2 or h3, got "h4"`},
		{`["h1", "h2"]`, `[]`, "origins[0].protocols: expected at least one"},
		{`"extraRttMs": 0`, `"extraRttMs": -3`, "origins[0].extraRttMs: expected 0 to 60000, got -3"},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "udpMbps": -2`, "origins[0].udpMbps: expected 0.001 to 10000, got -2"},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "thinkMs": -1`, "origins[0].thinkMs: expected 0 to 600000, got -1"},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "congestionControl": "vegas"`, `origins[0].congestionControl: expected cubic, reno or bbr, got "vegas"`},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "initialWindow": 5000`, "origins[0].initialWindow: expected 1 to 1000, got 5000"},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "pacingMbps": -1`, "origins[0].pacingMbps: expected a rate of at most 10000, got -1"},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "tlsVersion": "1.1"`, `origins[0].tlsVersion: expected 1.2 or 1.3, got "1.1"`},
		{`"extraRttMs": 0`, `"extraRttMs": 0, "priorities": "no"`, `origins[0].priorities: expected honoured or ignored, got "no"`},
		{`"path": "/b"`, `"path": "b"`, "resources[1].path: expected a path that begins with /"},
		{`"path": "/b"`, `"path": "/b", "method": "get"`, `resources[1].method: expected a method in capitals, got "get"`},
		{`"path": "/b"`, `"path": "/b", "requestSha256": "ab"`, `resources[1].requestSha256: expected 64 hex digits, got "ab"`},
		{`"path": "/b"`, `"path": "/?x=1"`, "resources[1]: https://a.test/?x=1 is resources[0] already"},
		{`"status": 200, "headers": {}`, `"status": 99, "headers": {}`, "resources[1].status: expected 200 to 599, got 99"},
		{`"headers": {}`, `"headers": {"a b": "x"}`, `resources[1].headers: "a b" is not a header name`},
		{`"headers": {}`, `"headers": {"a": "x\r\ny: z"}`, `resources[1].headers["a"]: expected one line`},
		{`pages/index.html`, `pages/none.html`, "resources[0].body.file: pages/none.html: no such file"},
		{`pages/index.html`, `../site.json`, "resources[0].body.file: ../site.json: path escapes"},
		{`pages/index.html`, `pages`, "resources[0].body.file: pages: expected a regular file"},
		{`"filler": "bytes"`, `"filler": "jpeg"`, "resources[1].body: expected {file} or {filler"},
		{`"bytes": 10`, `"bytes": -1`, "resources[1].body.bytes: expected 0 to"},
		{`"bytes": 10`, `"bytes": 1.5`, "expected a number, got a number 1.5"},
		{`"thinkMs": 5`, `"thinkMs": 1e99`, "resources[0].thinkMs: expected 0 to 600000"},
		{"  ]\n}", "", "line 9: the file ends in the middle"},
		{"  ]\n}", "  ]\n}}", "expected the end of the file"},
		{`"origins"`, `origins`, "line 3: invalid character"},
	} {
		dir := write(t, strings.Replace(good, c.old, c.new, 1))
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "site.json: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

func TestNoSite(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "site.json: no such file") {
		t.Errorf("got %v", err)
	}
}

func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "site.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Without a writer an open that waits would never come back.
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "site.json: expected a regular file") {
		t.Errorf("got %v", err)
	}
}

func TestPixelsInAll(t *testing.T) {
	image := `{"origin": "https://a.test", "path": "/%d", "status": 200, "headers": {}, "body": {"filler": "png", "bytes": 40000, "width": 16384, "height": 16384}, "thinkMs": 0}`
	var images []string
	for n := range 17 {
		images = append(images, fmt.Sprintf(image, n))
	}
	with := func(count int) string {
		return strings.Replace(good, `"resources": [`, `"resources": [`+strings.Join(images[:count], ",")+",", 1)
	}
	if site, err := Open(write(t, with(16))); err != nil {
		t.Error(err)
	} else {
		site.Close()
	}
	if _, err := Open(write(t, with(17))); err == nil || !strings.Contains(err.Error(), "resources[16].body: expected at most 4294967296 pixels") {
		t.Errorf("got %v", err)
	}
}

func TestSymbolicLinkOutOfTheSite(t *testing.T) {
	dir := write(t, good)
	index := filepath.Join(dir, "pages/index.html")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", index); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "path escapes") {
		t.Errorf("got %v", err)
	}
}

func TestOriginWith(t *testing.T) {
	origin := Origin{Origin: "https://a.test", Protocols: []string{"h1", "h2"}, ThinkMs: 7}
	changed, err := origin.With([]byte(`{"protocols": ["h3"], "initialWindow": 20}`))
	if err != nil || !slices.Equal(changed.Protocols, []string{"h3"}) || changed.InitialWindow != 20 || changed.ThinkMs != 7 {
		t.Errorf("%+v, %v", changed, err)
	}
	if !slices.Equal(origin.Protocols, []string{"h1", "h2"}) {
		t.Errorf("the original has changed to %v", origin.Protocols)
	}
	for change, want := range map[string]string{
		`{"origin": "https://b.test"}`: ".origin: cannot change",
		`{"protocols": ["h4"]}`:        `.protocols[0]: expected h1, h2 or h3, got "h4"`,
		`{"speed": 1}`:                 `: unknown field "speed"`,
		`[]`:                           ": cannot unmarshal array",
	} {
		if _, err := origin.With([]byte(change)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", change, err, want)
		}
	}
}

func TestOffersH3(t *testing.T) {
	off := false
	for _, c := range []struct {
		origin Origin
		want   bool
	}{
		{Origin{Protocols: []string{"h1", "h3"}}, true},
		{Origin{Protocols: []string{"h1", "h3"}, AltSvc: &off}, false},
		{Origin{Protocols: []string{"h1", "h2"}}, false},
	} {
		if got := c.origin.OffersH3(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.origin, got, c.want)
		}
	}
}
