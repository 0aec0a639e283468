package link

import "math"

// queue is the link's drop-tail queue and the serialiser behind it, which sends one packet at a time at the link's rate.
// Times are nanoseconds.
type queue struct {
	waiting ring
	// bytes are those of the waiting packets, without the one in the serialiser.
	bytes      int64
	limitBytes int64
	// busyUntil is when the serialiser has sent the last bit of the packet that it holds.
	busyUntil    int64
	nanosPerByte float64
}

// push appends a packet. It returns false, and the packet is dropped, where the queue has no room for all of it. A packet that
// finds the link idle is always accepted, however small the limit.
func (q *queue) push(now int64, packet Packet) bool {
	idle := q.waiting.len() == 0 && q.busyUntil <= now
	if !idle && q.bytes+int64(packet.Size) > q.limitBytes {
		return false
	}
	if idle {
		q.busyUntil = now
	}
	q.waiting.push(packet)
	q.bytes += int64(packet.Size)
	return true
}

// send takes out the first packet if the serialiser is free by now. The packet's transmission runs from startedAt to sentAt.
func (q *queue) send(now int64) (packet Packet, startedAt, sentAt int64, ok bool) {
	if q.waiting.len() == 0 || q.busyUntil > now {
		return Packet{}, 0, 0, false
	}
	packet = q.waiting.pop()
	q.bytes -= int64(packet.Size)
	startedAt = q.busyUntil
	q.busyUntil += q.transmission(packet.Size)
	return packet, startedAt, q.busyUntil, true
}

// nextSent is when the first waiting packet will have been sent; ok is false when none waits.
func (q *queue) nextSent() (at int64, ok bool) {
	if q.waiting.len() == 0 {
		return 0, false
	}
	return q.busyUntil + q.transmission(q.waiting.front().Size), true
}

func (q *queue) transmission(size int32) int64 {
	return int64(math.Round(float64(size) * q.nanosPerByte))
}

// ring is a first-in first-out queue of packets that keeps its memory.
type ring struct {
	slots []Packet
	head  int
	count int
}

func (r *ring) len() int { return r.count }

func (r *ring) front() Packet { return r.slots[r.head] }

func (r *ring) push(packet Packet) {
	if r.count == len(r.slots) {
		grown := make([]Packet, max(1024, 2*len(r.slots)))
		for i := range r.count {
			grown[i] = r.slots[(r.head+i)%len(r.slots)]
		}
		r.slots, r.head = grown, 0
	}
	r.slots[(r.head+r.count)%len(r.slots)] = packet
	r.count++
}

func (r *ring) pop() Packet {
	packet := r.slots[r.head]
	r.head = (r.head + 1) % len(r.slots)
	r.count--
	return packet
}
