package serve

import (
	"net/http"
	"strings"
	"testing"

	"hopwise/lab/site"
)

func frontAt(name string, protocols ...string) frontOrigin {
	return frontOrigin{
		Origin: site.Origin{
			Origin: "https://" + name, Protocols: protocols,
			Settings: site.Settings{CongestionControl: "bbr", InitialWindow: 20, Priorities: site.PrioritiesHonoured},
		},
		Addresses:   []string{"198.19.1.1:443", "[2001:2::100:1]:443"},
		Certificate: "/lab/0.pem", Key: "/lab/0.key", Upstream: "/lab/0.sock",
	}
}

func TestNginxServesEachOriginsProtocols(t *testing.T) {
	origins := []frontOrigin{frontAt("both.test", "h1", "h2"), frontAt("old.test", "h1"), frontAt("new.test", "h2", "h3")}
	text, err := nginxConfigOf("/lab", "1.22.1", origins)
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := strings.Cut(string(text), "# https://both.test")
	both, rest, _ := strings.Cut(all, "# https://old.test")
	old, new, _ := strings.Cut(rest, "# https://new.test")
	for _, one := range []struct {
		server, listen string
		refusesH1      bool
	}{
		{both, "listen [2001:2::100:1]:443 ssl http2;", false},
		{old, "listen [2001:2::100:1]:443 ssl;", false},
		{new, "listen [2001:2::100:1]:443 ssl http2;", true},
	} {
		if strings.Contains(one.server, "return 444;") != one.refusesH1 {
			t.Errorf("refusal of HTTP/1.1 should be %v in %s", one.refusesH1, one.server)
		}
		for _, line := range []string{
			one.listen, "ssl_certificate /lab/0.pem;", "ssl_certificate_key /lab/0.key;", "server unix:/lab/0.sock max_fails=0;",
		} {
			if !strings.Contains(one.server, line) {
				t.Errorf("expected %q in %s", line, one.server)
			}
		}
	}
	if !strings.Contains(new, "upstream origin2 {") || !strings.Contains(new, "proxy_pass http://origin2;") {
		t.Errorf("expected an upstream of its own in %s", new)
	}
	for _, line := range []string{
		"master_process off;", "error_log stderr warn;", "ssl_protocols TLSv1.3;", "ssl_session_ticket_key /lab/tickets.key;",
		"http2_max_concurrent_streams 128;", "proxy_max_temp_file_size 0;", "proxy_request_buffering off;",
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("expected %q", line)
		}
	}
}

// Since 1.25.1 nginx warns about the parameter.
func TestNewerNginxHasADirectiveForHTTP2(t *testing.T) {
	for version, expected := range map[string]string{
		"1.22.1": "ssl http2;", "1.24.0": "ssl http2;", "1.25.1": "http2 on;", "1.26.3": "http2 on;", "2.0.0": "http2 on;",
	} {
		text, err := nginxConfigOf("/lab", version, []frontOrigin{frontAt("both.test", "h1", "h2")})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"ssl http2;", "http2 on;"} {
			if strings.Contains(string(text), line) != (line == expected) {
				t.Errorf("nginx %s: expected %q alone", version, expected)
			}
		}
	}
}

func TestQuicheGetsEachOriginsSettings(t *testing.T) {
	text, err := quicheConfigOf([]frontOrigin{frontAt("new.test", "h3")}, "/lab/clients.json")
	if err != nil {
		t.Fatal(err)
	}
	const expected = `{"clients":"/lab/clients.json","endpoints":[{"origin":"https://new.test","addresses":["198.19.1.1:443","[2001:2::100:1]:443"],` +
		`"certificate":"/lab/0.pem","key":"/lab/0.key","upstream":"/lab/0.sock","congestionControl":"bbr","initialWindow":20,` +
		`"pacingMbps":0,"startRate":false,"priorities":"honoured"}]}`
	if string(text) != expected {
		t.Errorf("expected %s, got %s", expected, text)
	}
}

func TestFrontsRefuseSettingsThatTheyLack(t *testing.T) {
	at := func(change func(*site.Origin), protocols ...string) site.Origin {
		origin := frontAt("one.test", protocols...).Origin
		change(&origin)
		return origin
	}
	paced := func(o *site.Origin) { o.PacingMbps = 5 }
	ignoring := func(o *site.Origin) { o.Priorities = site.PrioritiesIgnored }
	old := func(o *site.Origin) { o.TLSVersion = "1.2" }
	early := func(o *site.Origin) { o.EarlyData = true }
	starting := func(o *site.Origin) { o.StartRate = true }
	for _, one := range []struct {
		origin    site.Origin
		quiche    string
		complaint string
	}{
		{at(paced, "h1"), "/quiche", "https://one.test.pacingMbps: nginx cannot pace TCP"},
		{at(paced, "h3"), "/quiche", ""},
		{at(ignoring, "h2"), "/quiche", "https://one.test.priorities: nginx honours those of HTTP/2 always"},
		{at(ignoring, "h1", "h3"), "/quiche", ""},
		{at(old, "h2"), "/quiche", "https://one.test.tlsVersion: the lab's nginx speaks TLS 1.3 alone"},
		{at(old, "h3"), "/quiche", ""},
		{at(early, "h3"), "/quiche", "https://one.test.earlyData: the lab's quiche accepts none"},
		{at(early, "h1"), "/quiche", ""},
		{at(starting, "h2"), "/quiche", "https://one.test.startRate: nginx does not start at a rate"},
		{at(starting, "h2", "h3"), "/quiche", ""},
		{at(func(*site.Origin) {}, "h1", "h3"), "", "https://one.test.protocols: h3 needs hopwise-quiche"},
	} {
		f := &fronts{config: FrontsConfig{Programs: Programs{Quiche: one.quiche}}}
		err := f.check(one.origin)
		if (err == nil) != (one.complaint == "") || err != nil && !strings.HasPrefix(err.Error(), one.complaint) {
			t.Errorf("expected %q, got %v", one.complaint, err)
		}
	}
}

func TestConnectionsOfBothFrontsHaveDifferentNumbers(t *testing.T) {
	f := &fronts{numbers: map[string]uint64{}}
	came := func(protocol, connection, resumed string) arrival {
		header := http.Header{}
		header.Set("Hopwise-Protocol", protocol)
		header.Set("Hopwise-Connection", connection)
		header.Set("Hopwise-Resumed", resumed)
		header.Set("Accept", "*/*")
		found := f.arrival(header)
		if len(header) != 1 {
			t.Errorf("expected only Accept to be left, got %v", header)
		}
		return found
	}
	first, again := came("HTTP/2.0", "1", "0"), came("HTTP/2.0", "1", "0")
	if first != again || first.protocol != "h2" || first.resumed {
		t.Errorf("expected one connection of h2, not resumed, got %v and %v", first, again)
	}
	old, quic := came("HTTP/1.1", "2", "1"), came("HTTP/3", "1", "1")
	if old.protocol != "h1" || !old.resumed || quic.protocol != "h3" || !quic.resumed {
		t.Errorf("expected resumed h1 and h3, got %v and %v", old, quic)
	}
	if old.connection == first.connection || quic.connection == first.connection || quic.connection == old.connection {
		t.Errorf("expected three numbers, got %d, %d, %d", first.connection, old.connection, quic.connection)
	}
}

func TestMessagesOfNginxAreKeptWithoutStamp(t *testing.T) {
	log := &recorder{}
	out := &messages{recorder: log, prefix: "nginx: "}
	for _, part := range []string{
		"nginx: [warn] 4096 worker_connec", "tions\n", "2026/11/25 02:00:00 [emerg] 12#12: bind() to 198.19.1.1:443 failed (98: in use)\n\n",
	} {
		if _, err := out.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	const last = "bind() to 198.19.1.1:443 failed (98: in use)"
	if out.last() != last {
		t.Errorf("expected %q, got %q", last, out.last())
	}
	if kept := log.take().Errors; len(kept) != 2 || kept[0] != "nginx: 4096 worker_connections\n" || kept[1] != "nginx: "+last+"\n" {
		t.Errorf("expected two messages, got %q", kept)
	}
}
