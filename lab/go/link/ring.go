package link

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
