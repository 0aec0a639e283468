package serve

import (
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"hopwise/lab/site"
)

var (
	startClientAddress = netip.MustParseAddr("192.0.2.1")
	startRTT           = 60 * time.Millisecond
)

// announced is what is known after a client announced a rate on a connection that is still open.
func announced(field string) (*startRates, time.Time) {
	rates, now := &startRates{}, time.Now()
	rates.open(startClientAddress, now)
	rates.announce(startClientAddress, field, startRTT, now)
	return rates, now
}

func TestAStartIsDividedOverTheClientsConnections(t *testing.T) {
	rates, now := announced("20")
	// 20 Mbit/s × 60 ms = 150,000 B = 100 segments, of which the next connection, the second, has half.
	if window := rates.window(startClientAddress); window != 50 {
		t.Errorf("expected a window of 50, got %d", window)
	}
	if start := rates.open(startClientAddress, now); start.mbps != 10 || start.window != 50 {
		t.Errorf("expected 10 Mbit/s and a window of 50, got %v", start)
	}
	rates.setBusy(startClientAddress, false)
	rates.setBusy(startClientAddress, false)
	if window := rates.window(startClientAddress); window != 100 {
		t.Errorf("expected a window of 100, got %d", window)
	}
	if start := rates.open(netip.MustParseAddr("192.0.2.2"), now); start.window != 0 {
		t.Errorf("expected nothing of another client, got %v", start)
	}
	if start := rates.open(startClientAddress, now.Add(startValid)); start.window != 0 {
		t.Errorf("expected nothing after an hour, got %v", start)
	}
}

func TestARateIsNoLimitWhereTheUsualStartIsFaster(t *testing.T) {
	for window, rounds := range map[int]int{0: 0, 5: 0, 10: 0, 11: 1, 20: 1, 21: 2, 40: 2, 41: 3, 2000: 3} {
		if got := (start{window: window}).cappedRounds(10); got != rounds {
			t.Errorf("a window of %d: expected %d round trips, got %d", window, rounds, got)
		}
	}
}

// connectionFrom is a client's, of which nothing but the address is asked.
type connectionFrom struct {
	*net.TCPConn
	client netip.Addr
}

func (c connectionFrom) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.client, 443))
}

func TestAllOriginsBeginWithTheClientsShare(t *testing.T) {
	rates, _ := announced("20")
	windows := [2]int{}
	origins := [2]*tcpStarts{}
	for index := range origins {
		origins[index] = newTCPStarts(rates, index, site.Settings{}, &recorder{}, func(_ netip.Addr, index, window int) error {
			windows[index] = window
			return nil
		})
	}
	expect := func(when string, window int) {
		t.Helper()
		if windows != [2]int{window, window} {
			t.Errorf("%s: expected windows of %d, got %v", when, window, windows)
		}
	}
	expect("beside the connection that announced", 50)
	for index, rounds := range []int{3, 2} {
		connection := connectionFrom{&net.TCPConn{}, startClientAddress}
		origins[index].follow(connection, http.StateNew)
		if got := origins[index].connections[connection].cappedRounds; got != rounds {
			t.Errorf("connection %d: expected %d round trips, got %d", index, rounds, got)
		}
		defer origins[index].follow(connection, http.StateClosed)
	}
	expect("beside three", 25)
	rates.setBusy(startClientAddress, false)
	expect("without news", 25)
	rates.renew(startClientAddress)
	expect("beside two", 33)
	if err := origins[0].reset(); err != nil || windows != [2]int{0, 33} {
		t.Errorf("expected that only one origin has its own window again, got %v, %v", windows, err)
	}
	rates.renew(startClientAddress)
	if windows[0] != 0 {
		t.Errorf("expected that an origin that has ended keeps its window, got %d", windows[0])
	}
}

func TestAFieldThatIsNoRateIsIgnored(t *testing.T) {
	for _, field := range []string{"", "-1", "0", "NaN", "Inf", "1e9", "20 Mbit/s"} {
		rates, _ := announced(field)
		if window := rates.window(startClientAddress); window != 0 {
			t.Errorf("%q: expected no window, got %d", field, window)
		}
	}
	rates, _ := announced("1000")
	rates.setBusy(startClientAddress, false)
	if window := rates.window(startClientAddress); window != maxStartWindow {
		t.Errorf("expected at most %d, got %d", maxStartWindow, window)
	}
}

func TestAClientIsBelievedUntilItsSecondLossyStart(t *testing.T) {
	rates, now := announced("20")
	believed := func() bool { return rates.window(startClientAddress) > 0 }
	rates.judge(startClientAddress, 5, 100, now)
	rates.judge(startClientAddress, 30, 100, now)
	if !believed() {
		t.Error("expected that one lossy start is forgiven")
	}
	rates.judge(startClientAddress, 30, 100, now)
	rates.announce(startClientAddress, "10", startRTT, now.Add(startValid/2))
	if believed() {
		t.Error("expected that the client is not believed any more")
	}
	rates.announce(startClientAddress, "10", startRTT, now.Add(startValid))
	if !believed() {
		t.Error("expected that it is believed again after an hour")
	}
}

func TestClientsBeginAnew(t *testing.T) {
	rates, now := announced("20")
	rates.judge(startClientAddress, 30, 100, now)
	rates.judge(startClientAddress, 30, 100, now)
	rates.forget(now)
	rates.announce(startClientAddress, "20", startRTT, now)
	// One connection is still open.
	if window := rates.window(startClientAddress); window != 50 {
		t.Errorf("expected a window of 50, got %d", window)
	}
}

func TestClientsAreBounded(t *testing.T) {
	rates, now := &startRates{}, time.Now()
	address := func(index int) netip.Addr {
		return netip.AddrFrom4([4]byte{10, byte(index >> 16), byte(index >> 8), byte(index)})
	}
	for index := range 2 * maxStartClients {
		rates.open(address(index), now)
		rates.setBusy(address(index), false)
		rates.close(address(index))
	}
	if len(rates.clients) != maxStartClients {
		t.Errorf("expected %d clients, got %d", maxStartClients, len(rates.clients))
	}
	rates.open(address(1<<20), now.Add(startValid))
	if len(rates.clients) != 1 {
		t.Errorf("expected that those before are forgotten, got %d clients", len(rates.clients))
	}
}
