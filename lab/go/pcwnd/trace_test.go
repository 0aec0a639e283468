package pcwnd

import (
	"strings"
	"testing"
)

const probeLine = "tcp_probe: family=AF_INET src=198.19.1.1:20001 dest=198.18.0.2:40312 mark=0x0 data_len=0 " +
	"snd_nxt=0xfffffa58 snd_una=0x10 snd_cwnd=10 ssthresh=2147483647 snd_wnd=64256 srtt=40123 rcv_wnd=65536 " +
	"sock_cookie=2a1f skbaddr=00000000b9e2f8c1 skaddr=000000004f5c1d2e"

func TestParseLineReadsProbe(t *testing.T) {
	want := Event{
		Peer: 40312, Probe: true, Cookie: 0x2a1f,
		Sample: Sample{Unacknowledged: 0x10, Next: 0xfffffa58, Cwnd: 10},
	}
	for name, line := range map[string]string{
		"alone":                 probeLine,
		"with the context":      "          <idle>-0       [001] ..s2.   123.456789: " + probeLine,
		"with a name of a mark": "  a tcp_probe: x-17 [000] ..s2. 1.5: " + probeLine,
		"of an older kernel":    strings.Replace(probeLine, "family=AF_INET ", "", 1),
	} {
		event, found, err := ParseLine([]byte(line))
		if err != nil || !found || event != want {
			t.Errorf("%s: expected %+v, got %+v, %v, %v", name, want, event, found, err)
		}
	}
}

func TestParseLineReadsIPv6(t *testing.T) {
	line := strings.NewReplacer("AF_INET", "AF_INET6", "198.18.0.2:40312", "[2001:2::2]:40312").Replace(probeLine)
	if event, found, err := ParseLine([]byte(line)); err != nil || !found || event.Peer != 40312 {
		t.Errorf("expected port 40312, got %+v, %v, %v", event, found, err)
	}
}

func TestParseLineReadsState(t *testing.T) {
	line := "tcp_cong_state_set: family=AF_INET sport=20001 dport=40312 saddr=198.19.1.1 daddr=198.18.0.2 " +
		"saddrv6=::ffff:198.19.1.1 daddrv6=::ffff:198.18.0.2 cong_state=3"
	event, found, err := ParseLine([]byte(line))
	if want := (Event{Peer: 40312, State: caRecovery}); err != nil || !found || event != want {
		t.Errorf("expected %+v, got %+v, %v, %v", want, event, found, err)
	}
}

func TestParseLineReadsLoss(t *testing.T) {
	for line, want := range map[string]uint64{"CPU:1 [LOST 42 EVENTS]": 42, "CPU:0 [LOST EVENTS]": 1} {
		if event, found, err := ParseLine([]byte(line)); err != nil || !found || event.Lost != want {
			t.Errorf("%s: expected %d, got %+v, %v, %v", line, want, event, found, err)
		}
	}
}

func TestParseLineSkipsOthers(t *testing.T) {
	for _, line := range []string{"", "sched_switch: prev_comm=a", "tcp_probe:", "CPU:1 is up"} {
		if event, found, err := ParseLine([]byte(line)); err != nil || found {
			t.Errorf("%q: expected nothing, got %+v, %v", line, event, err)
		}
	}
}

func TestParseLineNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{strings.Replace(probeLine, "snd_cwnd=10", "snd_cwnd=ten", 1), `tcp_probe: snd_cwnd: expected a number, got "ten"`},
		{strings.Replace(probeLine, "snd_cwnd=10 ", "", 1), "tcp_probe: expected a field snd_cwnd"},
		{strings.Replace(probeLine, "snd_nxt=0xfffffa58", "snd_nxt=0x1fffffa58", 1), `tcp_probe: snd_nxt: expected a number, got "0x1fffffa58"`},
		{strings.Replace(probeLine, "dest=198.18.0.2:40312", "dest=(efault)", 1), `tcp_probe: dest: expected a number, got "(efault)"`},
		{"tcp_cong_state_set: sport=1 dport=70000 cong_state=3", `tcp_cong_state_set: dport: expected a number, got "70000"`},
		{"tcp_cong_state_set: sport=1 dport=7 cong_state=9", `tcp_cong_state_set: cong_state: expected a number, got "9"`},
		{"tcp_cong_state_set: sport=1 dport=7", "tcp_cong_state_set: expected a field cong_state"},
	} {
		_, _, err := ParseLine([]byte(c.line))
		if err == nil || err.Error() != c.want {
			t.Errorf("expected %q, got %v", c.want, err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(probeLine))
	f.Add([]byte("tcp_cong_state_set: sport=1 dport=7 cong_state=3"))
	f.Add([]byte("CPU:1 [LOST 42 EVENTS]"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, found, err := ParseLine(line); found && err != nil {
			t.Errorf("an event and an error: %v", err)
		}
	})
}
