package link

// flight is a packet between the serialiser and the far end.
type flight struct {
	deliverAt int64
	order     uint64
	packet    Packet
}

// flightHeap is a binary heap of packets by delivery time, ties in order of transmission. Written
// out because container/heap boxes each element, and the pump runs without garbage collection.
type flightHeap []flight

func (h flightHeap) before(i, j int) bool {
	return h[i].deliverAt < h[j].deliverAt || (h[i].deliverAt == h[j].deliverAt && h[i].order < h[j].order)
}

func (h *flightHeap) push(item flight) {
	*h = append(*h, item)
	heap := *h
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !heap.before(i, parent) {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

func (h *flightHeap) pop() flight {
	heap := *h
	first := heap[0]
	last := len(heap) - 1
	heap[0] = heap[last]
	heap = heap[:last]
	*h = heap
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return first
		}
		if child+1 < last && heap.before(child+1, child) {
			child++
		}
		if !heap.before(child, i) {
			return first
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
