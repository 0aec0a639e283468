// Package link emulates one network path: per direction a drop-tail queue, a serialiser,
// propagation delay, random loss and a treatment of UDP.
//
// Direction is pure and runs in virtual time (nanoseconds of any monotonic clock); Pump drives two
// of them between two TUN devices in real time.
package link

import (
	"math"
	"math/rand/v2"
	"net/netip"
)

// Side names a direction of the link.
type Side uint64

// Down is towards the client, Up towards the servers.
const (
	Down Side = iota
	Up
)

// Packet has the properties of an IP packet that the model needs.
type Packet struct {
	// Buffer is for the caller's use.
	Buffer int32
	Size   int32
	UDP    bool
	// Server is the address of the server that sends or receives the packet.
	Server netip.Addr
	// lost packets pass the queue and the serialiser and are dropped after that.
	lost    bool
	arrived int64
	number  uint64
}

// Fate is the outcome of a packet's arrival.
type Fate int

// Outcomes of a packet's arrival.
const (
	Accepted Fate = iota
	DroppedByQueue
	DroppedUDPBlocked
	DroppedUDPPoliced
	DroppedUDPLoss
)

// Peer is what lies between the link and one server address.
type Peer struct {
	// ExtraRTTMs is the round trip beyond the link's.
	ExtraRTTMs float64
	// UDPMbps is the rate to which UDP is policed in each direction, whatever the link does; 0 for none.
	UDPMbps float64
}

// peer has the state of one server address.
type peer struct {
	extraDelay int64
	// policer is nil where UDP is not policed.
	policer     *policer
	lastDeliver int64
}

// Direction is one direction of the link.
type Direction struct {
	side Side

	delay       int64
	udp         UDP
	policer     *policer
	udpLossRate float64
	jitter      int64
	reorder     Reorder

	loss       *lossModel
	udpLoss    *rand.Rand
	jitterRand *rand.Rand
	reorderRnd *rand.Rand

	peers map[netip.Addr]*peer

	queue  queue
	flying flightHeap
	order  uint64
	number uint64
	// released collects the buffers of packets lost after the serialiser.
	released []int32

	stats counters
}

type counters struct {
	packets, bytes                   uint64
	delivered, deliveredBytes        uint64
	byQueue, byLoss, byBlocked       uint64
	byPolicer, byUDPLoss, writeFails uint64
	maxQueueBytes                    int64
	queueDelay, lateness             histogram
	late                             uint64
	lost                             []uint64
	firstDelivery, lastDelivery      int64
}

// maxLostListed bounds the list of lost packets in the statistics.
const maxLostListed = 1000

// lateNanos is the lateness from which a delivery counts as late.
const lateNanos = 1_000_000

// NewDirection returns an idle direction.
func NewDirection(side Side, network Network, peers map[netip.Addr]Peer, now int64) *Direction {
	d := &Direction{side: side, queue: queue{busyUntil: now}}
	d.stats.lost = make([]uint64, 0, maxLostListed)
	if network.Seed == nil {
		seed := uint64(1)
		network.Seed = &seed
	}
	d.Configure(network, now)
	d.SetPeers(peers, now)
	return d
}

// Configure changes the link from now on. Waiting packets are sent at the new rate; the packet in the serialiser and those
// already sent keep their times.
func (d *Direction) Configure(network Network, now int64) {
	d.Advance(now)
	mbps := network.DownMbps
	if d.side == Up {
		mbps = network.UpMbps
	}
	d.queue.nanosPerByte = 8e3 / mbps
	d.queue.limitBytes = network.queueLimitBytes(mbps * 1e6)
	d.delay = int64(math.Round(network.RTTMs * 1e6 / 2))
	d.jitter = int64(network.JitterMs * 1e6)
	d.reorder = network.Reorder
	d.udpLossRate = network.UDPLoss
	if network.UDP != d.udp || d.policer == nil {
		d.policer = nil
		if network.UDP.PolicedMbps > 0 {
			d.policer = newPolicer(network.UDP.PolicedMbps, network.UDP.BurstBytes, now)
		}
	}
	d.udp = network.UDP
	if network.Seed != nil {
		seed := *network.Seed
		d.number = 0
		d.loss = newLossModel(newRandom(seed, d.side, streamLoss), network.Loss, network.LossBurst)
		d.udpLoss = newRandom(seed, d.side, streamUDPLoss)
		d.jitterRand = newRandom(seed, d.side, streamJitter)
		d.reorderRnd = newRandom(seed, d.side, streamReorder)
	} else {
		d.loss.set(network.Loss, network.LossBurst)
	}
}

// SetPeers sets what lies between the link and each server.
func (d *Direction) SetPeers(all map[netip.Addr]Peer, now int64) {
	d.peers = make(map[netip.Addr]*peer, len(all))
	for address, each := range all {
		server := &peer{extraDelay: int64(math.Round(each.ExtraRTTMs * 1e6 / 2))}
		if each.UDPMbps > 0 {
			server.policer = newPolicer(each.UDPMbps, 0, now)
		}
		d.peers[address] = server
	}
}

// Known reports whether a server address belongs to the link.
func (d *Direction) Known(server netip.Addr) bool { return d.peers[server] != nil }

// Arrive accepts or drops a packet. All packets are numbered from 0 in order of arrival, including dropped ones, and the number
// decides the packet's random loss.
func (d *Direction) Arrive(now int64, packet Packet) Fate {
	d.Advance(now)
	d.stats.packets++
	d.stats.bytes += uint64(packet.Size)
	packet.arrived = now
	packet.number = d.number
	d.number++
	packet.lost = d.loss.next()

	if packet.UDP {
		lost := d.udpLoss.Float64() < d.udpLossRate
		switch {
		case d.udp.Blocked:
			d.stats.byBlocked++
			return DroppedUDPBlocked
		case d.policer != nil && !d.policer.allow(now, int(packet.Size)):
			d.stats.byPolicer++
			return DroppedUDPPoliced
		case d.policedByPeer(now, packet):
			d.stats.byPolicer++
			return DroppedUDPPoliced
		case lost:
			d.stats.byUDPLoss++
			return DroppedUDPLoss
		}
	}
	if !d.queue.push(now, packet) {
		d.stats.byQueue++
		return DroppedByQueue
	}
	d.Advance(now)
	d.stats.maxQueueBytes = max(d.stats.maxQueueBytes, d.queue.bytes)
	return Accepted
}

func (d *Direction) policedByPeer(now int64, packet Packet) bool {
	server := d.peers[packet.Server]
	return server != nil && server.policer != nil && !server.policer.allow(now, int(packet.Size))
}

// Advance sends the packets whose turn has come by now.
func (d *Direction) Advance(now int64) {
	for {
		packet, startedAt, sentAt, ok := d.queue.send(now)
		if !ok {
			return
		}
		d.stats.queueDelay.add(startedAt - packet.arrived)
		d.launch(packet, sentAt)
	}
}

// launch sends a packet whose last bit left the serialiser at sentAt on its way to the far end, unless it is lost.
func (d *Direction) launch(packet Packet, sentAt int64) {
	jitter := int64(0)
	if d.jitter > 0 {
		jitter = d.jitterRand.Int64N(d.jitter + 1)
	}
	held := d.reorder.Rate > 0 && d.reorderRnd.Float64() < d.reorder.Rate
	if packet.lost {
		d.stats.byLoss++
		if len(d.stats.lost) < maxLostListed {
			d.stats.lost = append(d.stats.lost, packet.number)
		}
		d.released = append(d.released, packet.Buffer)
		return
	}
	deliverAt := sentAt + d.delay + jitter
	if server := d.peers[packet.Server]; server != nil {
		deliverAt += server.extraDelay
		if d.jitter > 0 {
			deliverAt = max(deliverAt, server.lastDeliver)
			server.lastDeliver = deliverAt
		}
	}
	if held {
		deliverAt += int64(d.reorder.DelayMs * 1e6)
	}
	d.order++
	d.flying.push(flight{deliverAt, d.order, packet})
}

// Due removes and returns the next packet to deliver at or before now.
func (d *Direction) Due(now int64) (packet Packet, deliverAt int64, ok bool) {
	d.Advance(now)
	if len(d.flying) == 0 || d.flying[0].deliverAt > now {
		return Packet{}, 0, false
	}
	first := d.flying.pop()
	d.stats.delivered++
	d.stats.deliveredBytes += uint64(first.packet.Size)
	return first.packet, first.deliverAt, true
}

// Delivered records when a packet that was due at deliverAt was actually handed over.
func (d *Direction) Delivered(deliverAt, now int64) {
	late := now - deliverAt
	d.stats.lateness.add(late)
	if late >= lateNanos {
		d.stats.late++
	}
	if d.stats.firstDelivery == 0 {
		d.stats.firstDelivery = now
	}
	d.stats.lastDelivery = now
}

// Released returns the buffer of a packet that was lost after the serialiser.
func (d *Direction) Released() (buffer int32, ok bool) {
	last := len(d.released) - 1
	if last < 0 {
		return 0, false
	}
	buffer = d.released[last]
	d.released = d.released[:last]
	return buffer, true
}

// NextEvent is the earliest time at which Due can have a packet.
func (d *Direction) NextEvent() (at int64, ok bool) {
	if len(d.flying) > 0 {
		at, ok = d.flying[0].deliverAt, true
	}
	if sentAt, waiting := d.queue.nextSent(); waiting {
		// No waiting packet can be delivered before the first of them has been sent.
		next := sentAt + d.delay
		if !ok || next < at {
			at, ok = next, true
		}
	}
	return at, ok
}

// Idle reports whether the direction holds no packet.
func (d *Direction) Idle(now int64) bool {
	d.Advance(now)
	return d.queue.waiting.len() == 0 && len(d.flying) == 0
}

// ResetStats clears the statistics; the link itself is unaffected.
func (d *Direction) ResetStats() {
	d.stats = counters{lost: d.stats.lost[:0]}
}

// DirectionStats are the counts since the last reset, in the units of their names.
type DirectionStats struct {
	Packets        uint64 `json:"packets"`
	Bytes          uint64 `json:"bytes"`
	Delivered      uint64 `json:"delivered"`
	DeliveredBytes uint64 `json:"deliveredBytes"`
	// DeliveryMs is the time from the first delivery to the last.
	DeliveryMs    float64         `json:"deliveryMs"`
	Drops         Drops           `json:"drops"`
	MaxQueueBytes int64           `json:"maxQueueBytes"`
	QueueDelayMs  DurationSummary `json:"queueDelayMs"`
	// LatenessMs is the delay of hand-overs after their due time.
	LatenessMs DurationSummary `json:"latenessMs"`
	// LatePackets were handed over 1 ms or more after their time.
	LatePackets uint64 `json:"latePackets"`
	// Lost lists the numbers of the first 1000 packets dropped by random loss.
	Lost []uint64 `json:"lost"`
}

// Drops counts dropped packets by cause.
type Drops struct {
	Queue      uint64 `json:"queue"`
	Loss       uint64 `json:"loss"`
	UDPBlocked uint64 `json:"udpBlocked"`
	UDPPoliced uint64 `json:"udpPoliced"`
	UDPLoss    uint64 `json:"udpLoss"`
	// Device counts packets that the receiving device refused.
	Device uint64 `json:"device"`
}

// Stats copies the counts.
func (d *Direction) Stats() DirectionStats {
	s := &d.stats
	return DirectionStats{
		Packets: s.packets, Bytes: s.bytes, Delivered: s.delivered, DeliveredBytes: s.deliveredBytes,
		DeliveryMs:    millis(s.lastDelivery - s.firstDelivery),
		Drops:         Drops{s.byQueue, s.byLoss, s.byBlocked, s.byPolicer, s.byUDPLoss, s.writeFails},
		MaxQueueBytes: s.maxQueueBytes, QueueDelayMs: s.queueDelay.summary(),
		LatenessMs: s.lateness.summary(), LatePackets: s.late, Lost: append([]uint64{}, s.lost...),
	}
}
