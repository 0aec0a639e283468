package link_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hopwise/lab/link"
	"hopwise/lab/netns"
)

var (
	clientAddress = netip.MustParseAddr("198.18.0.2")
	serverAddress = netip.MustParseAddr("198.19.1.1")
)

// testPath is a pump between two namespaces, with a socket in each.
type testPath struct {
	*link.Pump
	client, server *net.UDPConn
}

// headerBytes of IPv4 and UDP.
const headerBytes = 28

// newStillPath returns a path whose pump has not been started.
func newStillPath(t *testing.T, network link.Network) *testPath {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces here")
	}
	if err := netns.CheckTUN(); err != nil {
		t.Skip(err)
	}
	path := &testPath{}
	sockets := map[netip.Addr]**net.UDPConn{clientAddress: &path.client, serverAddress: &path.server}
	devices := map[netip.Addr]int{}
	for address, socket := range sockets {
		other := clientAddress
		if address == clientAddress {
			other = serverAddress
		}
		namespace, err := netns.New()
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(namespace.Close)
		must(t, namespace.AddAddresses(address))
		must(t, namespace.AddRoute(netip.PrefixFrom(other, 32), address, 0))
		must(t, namespace.Do(func() (err error) {
			*socket, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 443)))
			return err
		}))
		t.Cleanup(func() { (*socket).Close() })
		devices[address] = namespace.TUN
	}
	prepareReceiver(t, path.client)
	var err error
	path.Pump, err = link.NewPump(devices[clientAddress], devices[serverAddress], network, map[netip.Addr]link.Peer{serverAddress: {}})
	must(t, err)
	t.Cleanup(path.Stop)
	return path
}

func newTestPath(t *testing.T, network link.Network) *testPath {
	t.Helper()
	path := newStillPath(t, network)
	// The lab does the same: it keeps other work on the machine out of the result.
	path.Start(func() {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 20}, 0)
	})
	// The kernel starts to timestamp shortly after the option is set; until then a packet has the time of its reading.
	for limit := time.Now().Add(5 * time.Second); ; {
		path.send(t, 1, 300)
		time.Sleep(100 * time.Millisecond)
		read := time.Now()
		if first := path.receive(t); len(first) == 1 && first[0].at.Before(read) {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("the kernel does not report when a packet arrived")
		}
	}
	path.Configure(network)
	path.ResetStats()
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// prepareReceiver makes the kernel timestamp arriving packets and keep those that the test has not read yet.
func prepareReceiver(t *testing.T, socket *net.UDPConn) {
	raw, err := socket.SyscallConn()
	must(t, err)
	must(t, raw.Control(func(fd uintptr) {
		must(t, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
		must(t, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20))
	}))
}

// send sends so many numbered packets of size bytes down the path at once.
func (p *testPath) send(t *testing.T, packets, size int) {
	t.Helper()
	payload := make([]byte, size-headerBytes)
	for n := range packets {
		binary.BigEndian.PutUint64(payload, uint64(n))
		_, err := p.server.WriteToUDPAddrPort(payload, netip.AddrPortFrom(clientAddress, 443))
		must(t, err)
	}
}

type arrival struct {
	number uint64
	at     time.Time
	bytes  int
}

// receive reads until no packet has arrived for a while and the link is empty.
func (p *testPath) receive(t *testing.T) (arrivals []arrival) {
	t.Helper()
	payload, control := make([]byte, 2000), make([]byte, 200)
	for {
		must(t, p.client.SetReadDeadline(time.Now().Add(400*time.Millisecond)))
		size, controlSize, _, _, err := p.client.ReadMsgUDP(payload, control)
		if err != nil {
			if os.IsTimeout(err) && p.QuietFor() < 200*time.Millisecond {
				// The machine was busy.
				continue
			}
			if os.IsTimeout(err) {
				return arrivals
			}
			t.Fatal(err)
		}
		messages, err := unix.ParseSocketControlMessage(control[:controlSize])
		must(t, err)
		// A struct timespec (time(7)): seconds and nanoseconds.
		seconds := binary.NativeEndian.Uint64(messages[0].Data)
		nanoseconds := binary.NativeEndian.Uint64(messages[0].Data[8:])
		arrivals = append(arrivals, arrival{
			binary.BigEndian.Uint64(payload), time.Unix(int64(seconds), int64(nanoseconds)), size + headerBytes,
		})
	}
}

// rate returns the rate of the packets after the first, in Mbit/s.
func rate(arrivals []arrival) float64 {
	bytes := 0
	for _, one := range arrivals[1:] {
		bytes += one.bytes
	}
	return float64(bytes) * 8 / 1e6 / arrivals[len(arrivals)-1].at.Sub(arrivals[0].at).Seconds()
}

func numbers(arrivals []arrival) (all []uint64) {
	for _, one := range arrivals {
		all = append(all, one.number)
	}
	return all
}

func network(mbps, queueMs float64) link.Network {
	seed := uint64(1)
	return link.Network{
		RTTMs: 10, DownMbps: mbps, UpMbps: 100, LossBurst: 1, Queue: link.Queue{Ms: queueMs}, Seed: &seed,
	}
}

func TestAPathIsNotQuietBeforeItsPacketsAreRead(t *testing.T) {
	t.Parallel()
	path := newStillPath(t, network(20, 60))
	time.Sleep(50 * time.Millisecond)
	if quiet := path.QuietFor(); quiet < 50*time.Millisecond {
		t.Errorf("an empty path was quiet for %v only", quiet)
	}
	path.send(t, 1, 300)
	time.Sleep(50 * time.Millisecond)
	if quiet := path.QuietFor(); quiet >= 50*time.Millisecond {
		t.Errorf("a path with a packet on it was quiet for %v", quiet)
	}
}

func TestUDPGetsItsRate(t *testing.T) {
	for _, mbps := range []float64{1, 5, 20, 50, 100} {
		t.Run(fmt.Sprintf("%v Mbit/s", mbps), func(t *testing.T) {
			t.Parallel()
			path := newTestPath(t, network(mbps, 5000))
			// One second of packets.
			const size = 1000
			packets := int(mbps * 1e6 / 8 / size)
			closest := math.Inf(1)
			// The machine can delay the first or last packet, so the best of five counts.
			for range 5 {
				path.ResetStats()
				path.send(t, packets, size)
				arrivals := path.receive(t)
				stats, _ := path.Stats()
				if len(arrivals) != packets || int(stats.Packets) != packets || int(stats.Delivered) != packets || int(stats.DeliveredBytes) != packets*size {
					t.Fatalf("sent %d and received %d, counted %+v", packets, len(arrivals), stats)
				}
				if closest = min(closest, math.Abs(rate(arrivals)/mbps-1)); closest < 0.01 {
					break
				}
			}
			if closest > 0.01 {
				t.Errorf("off by %.1f%%", 100*closest)
			}
		})
	}
}

func TestAFullQueueDrops(t *testing.T) {
	path := newTestPath(t, network(20, 60))
	const packets = 600
	path.send(t, packets, 1500)
	arrivals := path.receive(t)
	stats, _ := path.Stats()
	if int(stats.Drops.Queue) != packets-len(arrivals) || stats.Drops.Queue == 0 {
		t.Errorf("sent %d and received %d, counted %d drops", packets, len(arrivals), stats.Drops.Queue)
	}
	// 60 ms of 20 Mbit/s are 100 packets, and one is in the serialiser.
	if stats.QueueDelayMs.Max < 59 || stats.QueueDelayMs.Max > 61 || stats.MaxQueueBytes != 150_000 {
		t.Errorf("packets waited for %v ms at most in a queue of 60 ms, which held %d bytes", stats.QueueDelayMs.Max, stats.MaxQueueBytes)
	}
}

func TestLossOnTheWire(t *testing.T) {
	t.Parallel()
	lossy := network(80, 5000)
	path := newTestPath(t, lossy)
	const packets = 8000
	for _, loss := range []float64{0.005, 0.05} {
		lossy.Loss = loss
		runs := map[uint64][]uint64{}
		for _, seed := range []uint64{1, 2, 1} {
			lossy.Seed = &seed
			path.Configure(lossy)
			path.ResetStats()
			path.send(t, packets, 300)
			received := numbers(path.receive(t))
			stats, _ := path.Stats()
			if stats.Drops.Queue > 0 || stats.Packets != packets {
				t.Fatalf("losses other than random ones: %+v", stats)
			}
			lost := []uint64{}
			for n := range uint64(packets) {
				if _, found := slices.BinarySearch(received, n); !found {
					lost = append(lost, n)
				}
			}
			if !slices.Equal(lost, stats.Lost) {
				t.Errorf("loss %v: not received and lost differ: %d and %d", loss, len(lost), len(stats.Lost))
			}
			// Four standard deviations of a binomial distribution.
			if off := math.Abs(float64(len(lost)) - packets*loss); off > 4*math.Sqrt(packets*loss*(1-loss)) {
				t.Errorf("loss %v: lost %d of %d", loss, len(lost), packets)
			}
			if before, again := runs[seed]; again && !slices.Equal(before, lost) {
				t.Errorf("loss %v: seed %d lost other packets the second time", loss, seed)
			}
			runs[seed] = lost
		}
		if slices.Equal(runs[1], runs[2]) {
			t.Errorf("loss %v: two seeds lost the same packets", loss)
		}
	}
}

// ratesAroundChange sends on a path of 20 Mbit/s, which it changes to 5 Mbit/s on the way, and returns both rates. It fails
// where other work on the machine left too few packets on either side of the change to say so.
func ratesAroundChange(t *testing.T, path *testPath) (before, after float64, err error) {
	t.Helper()
	// The queue holds all packets.
	path.send(t, 2000, 1500)
	time.Sleep(300 * time.Millisecond)
	begin := time.Now()
	path.Configure(network(5, 5000))
	end := time.Now()
	arrivals := path.receive(t)
	// Packets around the change have neither rate.
	isDuring := func(one arrival) bool { return one.at.After(begin.Add(-20 * time.Millisecond)) }
	isAfter := func(one arrival) bool { return one.at.After(end.Add(50 * time.Millisecond)) }
	first, last := slices.IndexFunc(arrivals, isDuring), slices.IndexFunc(arrivals, isAfter)
	if first < 100 || last < first || last > len(arrivals)-100 {
		return 0, 0, fmt.Errorf("%d packets received, %d of them before the change and %d until it was over", len(arrivals), first, last)
	}
	return rate(arrivals[:first]), rate(arrivals[last:]), nil
}

func TestReconfigurationInMidLoad(t *testing.T) {
	t.Parallel()
	path := newTestPath(t, network(20, 5000))
	// Other work on the machine can delay packets on either side of the change, so the first good one of ten counts.
	var off error
	for range 10 {
		path.Configure(network(20, 5000))
		var before, after float64
		if before, after, off = ratesAroundChange(t, path); off != nil {
			continue
		}
		if math.Abs(before/20-1) <= 0.05 && math.Abs(after/5-1) <= 0.05 {
			break
		}
		off = fmt.Errorf("%v Mbit/s before the change, want 20; %v Mbit/s after it, want 5", before, after)
	}
	if off != nil {
		t.Error(off)
	}
	blocked := network(5, 5000)
	blocked.UDP.Blocked = true
	path.Configure(blocked)
	path.ResetStats()
	path.send(t, 10, 300)
	arrivals := path.receive(t)
	if stats, _ := path.Stats(); len(arrivals) != 0 || stats.Drops.UDPBlocked != 10 {
		t.Errorf("%d packets came through blocked UDP, %d were dropped", len(arrivals), stats.Drops.UDPBlocked)
	}
}
