package serve

import (
	"net/netip"
	"testing"
	"time"
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
	if mbps := rates.open(startClientAddress, now); mbps != 10 {
		t.Errorf("expected 10 Mbit/s, got %v", mbps)
	}
	rates.close(startClientAddress)
	rates.close(startClientAddress)
	if window := rates.window(startClientAddress); window != 100 {
		t.Errorf("expected a window of 100, got %d", window)
	}
	if mbps := rates.open(netip.MustParseAddr("192.0.2.2"), now); mbps != 0 {
		t.Errorf("expected nothing of another client, got %v Mbit/s", mbps)
	}
	if mbps := rates.open(startClientAddress, now.Add(startValid)); mbps != 0 {
		t.Errorf("expected nothing after an hour, got %v Mbit/s", mbps)
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
	rates.close(startClientAddress)
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
