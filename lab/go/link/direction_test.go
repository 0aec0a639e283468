package link

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

const ms = int64(1e6)

var server = netip.MustParseAddr("198.19.1.1")
var farServer = netip.MustParseAddr("198.19.1.2")

func seeded(network Network, seed uint64) Network {
	if network.LossBurst == 0 {
		network.LossBurst = 1
	}
	if network.Queue == (Queue{}) {
		network.Queue.BDP = 1
	}
	network.Seed = &seed
	return network
}

func newTestDirection(t *testing.T, side Side, network Network) *Direction {
	t.Helper()
	network = seeded(network, 1)
	if err := network.Validate(); err != nil {
		t.Fatal(err)
	}
	return NewDirection(side, network, map[netip.Addr]Peer{server: {}, farServer: {ExtraRTTMs: 30}}, 0)
}

func packet(number, size int) Packet {
	return Packet{Buffer: int32(number), Size: int32(size), Server: server}
}

type delivery struct {
	buffer int32
	at     int64
}

// run advances virtual time from event to event until the direction is empty.
func run(d *Direction) (deliveries []delivery) {
	for {
		next, ok := d.NextEvent()
		if !ok {
			return deliveries
		}
		for {
			packet, at, ok := d.Due(next)
			if !ok {
				break
			}
			deliveries = append(deliveries, delivery{packet.Buffer, at})
		}
	}
}

func TestDelayAndSerialisation(t *testing.T) {
	// 1500 bytes at 12 Mbit/s take 1 ms; half of the 40 ms round trip follows.
	d := newTestDirection(t, Down, Network{RTTMs: 40, DownMbps: 12, UpMbps: 1})
	d.Arrive(5*ms, packet(0, 1500))
	d.Arrive(5*ms, packet(1, 750))
	want := []delivery{{0, 26 * ms}, {1, 26*ms + ms/2}}
	if got := run(d); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUpUsesItsOwnRate(t *testing.T) {
	// 1500 bytes at 1 Mbit/s take 12 ms.
	d := newTestDirection(t, Up, Network{RTTMs: 40, DownMbps: 12, UpMbps: 1})
	d.Arrive(0, packet(0, 1500))
	if got := run(d); got[0].at != 32*ms {
		t.Errorf("delivered at %d, want %d", got[0].at, 32*ms)
	}
}

func TestRateIsExactFrom1To100(t *testing.T) {
	for _, mbps := range []float64{1, 3.3, 10, 50, 100} {
		d := newTestDirection(t, Down, Network{RTTMs: 20, DownMbps: mbps, UpMbps: 1, Queue: Queue{Bytes: 1 << 29}})
		const packets = 20_000
		for i := range packets {
			d.Arrive(0, packet(i, 1500))
		}
		got := run(d)
		elapsed := float64(got[len(got)-1].at-got[0].at) / 1e9
		rate := float64(packets-1) * 1500 * 8 / elapsed / 1e6
		if math.Abs(rate/mbps-1) > 1e-4 {
			t.Errorf("%v Mbit/s: delivered at %v", mbps, rate)
		}
	}
}

func TestQueueLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		queue Queue
		bytes int
	}{
		{"bytes", Queue{Bytes: 15_000}, 15_000},
		// 12 Mbit/s drain 1500 bytes a millisecond.
		{"ms", Queue{Ms: 20}, 30_000},
		{"bdp", Queue{BDP: 0.5}, 30_000},
	} {
		d := newTestDirection(t, Down, Network{RTTMs: 40, DownMbps: 12, UpMbps: 1, Queue: c.queue})
		accepted := 0
		for i := range 100 {
			if d.Arrive(0, packet(i, 1500)) == Accepted {
				accepted++
			}
		}
		// One more packet is in the serialiser.
		if want := c.bytes/1500 + 1; accepted != want {
			t.Errorf("%s: accepted %d packets, want %d", c.name, accepted, want)
		}
		stats := d.Stats()
		if int(stats.Drops.Queue) != 100-accepted || stats.MaxQueueBytes != int64(c.bytes) {
			t.Errorf("%s: %d drops and %d bytes, want %d and %d", c.name, stats.Drops.Queue, stats.MaxQueueBytes, 100-accepted, c.bytes)
		}
		run(d)
		if got, want := d.Stats().QueueDelayMs.Max, float64(c.bytes)/1500; math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: longest queue delay %v ms, want %v", c.name, got, want)
		}
	}
}

func TestQueueSmallerThanAPacketPassesOneAtATime(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 2, DownMbps: 12, UpMbps: 1, Queue: Queue{Bytes: 100}})
	fates := []Fate{d.Arrive(0, packet(0, 1500)), d.Arrive(0, packet(1, 1500)), d.Arrive(ms, packet(2, 1500))}
	if want := []Fate{Accepted, DroppedByQueue, Accepted}; !slices.Equal(fates, want) {
		t.Errorf("got %v, want %v", fates, want)
	}
}

func TestExtraDelayOfAServer(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 40, DownMbps: 12, UpMbps: 1})
	far := packet(0, 1500)
	far.Server = farServer
	d.Arrive(0, far)
	d.Arrive(0, packet(1, 1500))
	// The far server's 30 ms of round trip are 15 ms one way; the packets overtake each other.
	want := []delivery{{1, 22 * ms}, {0, 36 * ms}}
	if got := run(d); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func losses(network Network, side Side, packets int) []uint64 {
	d := NewDirection(side, network, nil, 0)
	var lost []uint64
	for i := range packets {
		before := d.stats.byLoss
		d.Arrive(int64(i)*ms, packet(i, 100))
		run(d)
		if d.stats.byLoss > before {
			lost = append(lost, uint64(i))
		}
	}
	return lost
}

func TestSameSeedSameLosses(t *testing.T) {
	for _, burst := range []float64{1, 5} {
		network := Network{RTTMs: 10, DownMbps: 100, UpMbps: 100, Loss: 0.02, LossBurst: burst}
		first := losses(seeded(network, 7), Down, 20_000)
		if len(first) == 0 || !slices.Equal(first, losses(seeded(network, 7), Down, 20_000)) {
			t.Errorf("burst %v: the same seed lost other packets", burst)
		}
		if slices.Equal(first, losses(seeded(network, 8), Down, 20_000)) {
			t.Errorf("burst %v: another seed lost the same packets", burst)
		}
		if slices.Equal(first, losses(seeded(network, 7), Up, 20_000)) {
			t.Errorf("burst %v: both directions lost the same packets", burst)
		}
	}
}

func TestLossesDependOnThePacketsNumberAlone(t *testing.T) {
	network := seeded(Network{RTTMs: 10, DownMbps: 1, UpMbps: 1, Loss: 0.05, UDPLoss: 0.5, JitterMs: 3}, 3)
	d := NewDirection(Down, network, nil, 0)
	// Faster, of other sizes, partly UDP and beyond the queue's limit.
	for i := range 5000 {
		p := packet(i, 40+i%1400)
		p.UDP = i%3 == 0
		d.Arrive(int64(i)*ms/2, p)
	}
	run(d)
	plain := losses(network, Down, 5000)
	for _, number := range d.Stats().Lost {
		if _, found := slices.BinarySearch(plain, number); !found {
			t.Fatalf("packet %d is lost in only one of them", number)
		}
	}
	if len(d.Stats().Lost) == 0 {
		t.Fatal("nothing was lost")
	}
}

func TestMeanLossAndBurst(t *testing.T) {
	const packets = 400_000
	for _, c := range []struct{ loss, burst float64 }{{0.001, 1}, {0.03, 1}, {0.02, 6}, {0.2, 3}} {
		model := newLossModel(newRandom(11, Down, streamLoss), c.loss, c.burst)
		lost, runs, before := 0.0, 0.0, false
		for range packets {
			now := model.next()
			if now {
				lost++
				if !before {
					runs++
				}
			}
			before = now
		}
		// Losses in a run of mean length b count b-fold in the variance of the mean (two-state Markov chain).
		spread := math.Sqrt(c.loss * (1 - c.loss) * (2*c.burst - 1) / packets)
		if rate := lost / packets; math.Abs(rate-c.loss) > 4*spread {
			t.Errorf("loss %v, burst %v: lost %v", c.loss, c.burst, rate)
		}
		want := c.burst
		if c.burst == 1 {
			want = 1 / (1 - c.loss)
		}
		if mean := lost / runs; math.Abs(mean-want) > 4*math.Sqrt(want*(want-1)/runs)+1e-9 && c.burst > 1 {
			t.Errorf("loss %v, burst %v: runs of %v", c.loss, c.burst, mean)
		}
	}
}

func TestLostPacketsTakeTheirPlaceOnTheWire(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 0, DownMbps: 12, UpMbps: 1, Loss: 0.9, Queue: Queue{Bytes: 1 << 20}})
	for i := range 200 {
		d.Arrive(0, packet(i, 1500))
	}
	got := run(d)
	for _, one := range got {
		if want := int64(one.buffer+1) * ms; one.at != want {
			t.Fatalf("packet %d at %d, want %d", one.buffer, one.at, want)
		}
	}
	released := 0
	for {
		if _, ok := d.Released(); !ok {
			break
		}
		released++
	}
	if released+len(got) != 200 || released == 0 {
		t.Errorf("%d delivered and %d released of 200", len(got), released)
	}
}

func TestUDPBlocked(t *testing.T) {
	d := newTestDirection(t, Up, Network{RTTMs: 2, DownMbps: 12, UpMbps: 12, UDP: UDP{Blocked: true}})
	datagram := packet(0, 1200)
	datagram.UDP = true
	if d.Arrive(0, datagram) != DroppedUDPBlocked || d.Arrive(0, packet(1, 1200)) != Accepted {
		t.Error("expected UDP to be dropped and TCP to pass")
	}
}

func TestUDPPoliced(t *testing.T) {
	d := newTestDirection(t, Down, Network{
		RTTMs: 2, DownMbps: 100, UpMbps: 12, Queue: Queue{Ms: 1000}, UDP: UDP{PolicedMbps: 4, BurstBytes: 30_000},
	})
	// 20 Mbit/s of UDP are sent for 10 s; 4 Mbit/s and the first 30 kB pass.
	passed := 0
	for at := int64(0); at < 10_000*ms; at += 6 * ms / 10 {
		datagram := packet(0, 1500)
		datagram.UDP = true
		if d.Arrive(at, datagram) == Accepted {
			passed += 1500
		}
	}
	if want := 4e6/8*10 + 30_000; math.Abs(float64(passed)-want) > 1500 {
		t.Errorf("%d bytes passed, want %v", passed, want)
	}
	if d.Arrive(10_000*ms, packet(0, 1500)) != Accepted {
		t.Error("TCP was policed")
	}
}

func TestUDPPolicedOfOneServer(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 2, DownMbps: 100, UpMbps: 12, Queue: Queue{Ms: 1000}})
	d.SetPeers(map[netip.Addr]Peer{server: {UDPMbps: 4}, farServer: {}}, 0)
	passed := map[netip.Addr]int{}
	for at := int64(0); at < 10_000*ms; at += 6 * ms / 10 {
		for _, from := range []netip.Addr{server, farServer} {
			datagram := packet(0, 1500)
			datagram.UDP, datagram.Server = true, from
			if d.Arrive(at, datagram) == Accepted {
				passed[from] += 1500
			}
		}
	}
	// A bucket of 50 ms at the rate, and the rate.
	if want := 4e6 / 8 * (10 + 0.05); math.Abs(float64(passed[server])-want) > 1500 {
		t.Errorf("%d bytes of the policed server passed, want %v", passed[server], want)
	}
	if want := 20e6 / 8 * 10; math.Abs(float64(passed[farServer])-want) > 1500 {
		t.Errorf("%d bytes of the other server passed, want %v", passed[farServer], want)
	}
	if d.Arrive(10_000*ms, packet(0, 1500)) != Accepted {
		t.Error("TCP was policed")
	}
}

func TestReconfigurationInFlight(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 20, DownMbps: 12, UpMbps: 1, Queue: Queue{Bytes: 1 << 20}})
	for i := range 4 {
		d.Arrive(0, packet(i, 1500))
	}
	// During the second packet's transmission; the two waiting ones are sent at a tenth of the rate and arrive 5 ms later.
	d.Configure(Network{RTTMs: 30, DownMbps: 1.2, UpMbps: 1, LossBurst: 1, Queue: Queue{Bytes: 1 << 20}}, 3*ms/2)
	want := []delivery{{0, 11 * ms}, {1, 12 * ms}, {2, 27 * ms}, {3, 37 * ms}}
	if got := run(d); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSeedRestartsTheNumbers(t *testing.T) {
	network := seeded(Network{RTTMs: 2, DownMbps: 100, UpMbps: 1, Loss: 0.1, Queue: Queue{Bytes: 1 << 20}}, 5)
	d := NewDirection(Down, network, nil, 0)
	load := func() []uint64 {
		d.ResetStats()
		for i := range 2000 {
			d.Arrive(0, packet(i, 100))
		}
		run(d)
		return d.Stats().Lost
	}
	first := load()
	d.Configure(network, 0)
	if again := load(); !slices.Equal(first, again) {
		t.Error("the seed did not restart the losses")
	}
	network.Seed = nil
	d.Configure(network, 0)
	if later := load(); later[0] < 2000 {
		t.Errorf("without a seed the numbers continued at %d, want 2000 or more", later[0])
	}
}

func TestJitterKeepsAServersOrder(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 20, DownMbps: 100, UpMbps: 1, JitterMs: 10, Queue: Queue{Bytes: 1 << 20}})
	for i := range 500 {
		d.Arrive(int64(i)*ms/5, packet(i, 1000))
	}
	got := run(d)
	widest := int64(0)
	for i, one := range got {
		if int(one.buffer) != i {
			t.Fatalf("packet %d was delivered as number %d", one.buffer, i)
		}
		widest = max(widest, one.at-int64(i)*ms/5-10*ms)
	}
	if widest < 8*ms || widest > 10*ms+ms/10 {
		t.Errorf("widest jitter %d ns, want nearly 10 ms", widest)
	}
}

func TestReordering(t *testing.T) {
	d := newTestDirection(t, Down, Network{RTTMs: 20, DownMbps: 100, UpMbps: 1, Reorder: Reorder{Rate: 0.1, DelayMs: 5}, Queue: Queue{Bytes: 1 << 20}})
	for i := range 1000 {
		d.Arrive(int64(i)*ms, packet(i, 1000))
	}
	late := 0
	for _, one := range run(d) {
		if one.at > int64(one.buffer)*ms+11*ms {
			late++
		}
	}
	if late < 70 || late > 130 {
		t.Errorf("%d of 1000 packets held back, want about 100", late)
	}
}

func TestNetworkErrorsNameTheEntry(t *testing.T) {
	for text, want := range map[string]string{
		`{"rttMs":-1,"downMbps":1,"upMbps":1}`:                               "network: rttMs: expected 0 to 60000, got -1",
		`{"rttMs":10,"upMbps":1}`:                                            "network: downMbps:",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"loss":2}`:                      "network: loss:",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"loss":"x"}`:                    "network: loss: expected a float64, got a string",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"speed":2}`:                     `unknown field "speed"`,
		`{"rttMs":10,"downMbps":1,"upMbps":1,"udp":"shut"}`:                  "network: udp: expected",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"udp":{"policedMbps":0}}`:       "network: udp.policedMbps:",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"queue":{"ms":1,"bytes":5}}`:    "network: queue: expected exactly one",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"loss":0.8,"lossBurst":2}`:      "network: loss: expected at most 0.667",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"reorder":{"rate":2}}`:          "network: reorder.rate:",
		`{"rttMs":10,"downMbps":1,"upMbps":1,"queue":{"bytes":10000000000}}`: "network: queue.bytes:",
		`nonsense`: "network: ",
	} {
		_, err := ParseNetwork([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var h histogram
	for i := int64(1); i <= 10_000; i++ {
		h.add(i * 1000)
	}
	for _, c := range []struct{ fraction, want float64 }{{0.5, 5000_000}, {0.99, 9900_000}} {
		if got := float64(h.quantile(c.fraction)); got < c.want || got > c.want*17/16+1 {
			t.Errorf("quantile %v: got %v, want %v to %v", c.fraction, got, c.want, c.want*17/16)
		}
	}
	if h.max != 10_000_000 || h.quantile(1) != h.max {
		t.Errorf("max %d, quantile 1 %d", h.max, h.quantile(1))
	}
}

func TestInspect(t *testing.T) {
	v4 := make([]byte, 28)
	v4[0], v4[9] = 0x45, protocolUDP
	copy(v4[12:], server.AsSlice())
	copy(v4[16:], []byte{198, 18, 0, 2})
	got, ok := inspect(v4, Down)
	if !ok || !got.UDP || got.Server != server || got.Size != 28 {
		t.Errorf("IPv4 down: %+v %v", got, ok)
	}
	if got, _ := inspect(v4, Up); got.Server != netip.MustParseAddr("198.18.0.2") {
		t.Errorf("IPv4 up: %+v", got)
	}
	v6 := make([]byte, 48)
	v6[0], v6[6] = 0x60, 6
	address := netip.MustParseAddr("2001:2::1:1")
	copy(v6[24:], address.AsSlice())
	if got, ok := inspect(v6, Up); !ok || got.UDP || got.Server != address {
		t.Errorf("IPv6 up: %+v %v", got, ok)
	}
	for _, broken := range [][]byte{nil, {0x45}, v4[:19], v6[:39], {0x00, 1, 2}} {
		if _, ok := inspect(broken, Up); ok {
			t.Errorf("took % x for a packet", broken)
		}
	}
}
