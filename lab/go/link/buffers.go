package link

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// bufferBytes holds a packet of the devices' MTU.
const bufferBytes = 2048

// slabBuffers is how many buffers are allocated at a time.
const slabBuffers = 1024

// buffers is a pool of packet buffers that grows and is never collected.
type buffers struct {
	slabs [][]byte
	free  []int32
}

func (b *buffers) take() int32 {
	if len(b.free) == 0 {
		first := int32(len(b.slabs) * slabBuffers)
		b.slabs = append(b.slabs, make([]byte, slabBuffers*bufferBytes))
		for i := range int32(slabBuffers) {
			b.free = append(b.free, first+slabBuffers-1-i)
		}
	}
	last := len(b.free) - 1
	slot := b.free[last]
	b.free = b.free[:last]
	return slot
}

func (b *buffers) give(slot int32) { b.free = append(b.free, slot) }

func (b *buffers) at(slot int32) []byte {
	offset := int(slot%slabBuffers) * bufferBytes
	return b.slabs[slot/slabBuffers][offset : offset+bufferBytes]
}

// The descriptors are non-blocking, so the calls can bypass the Go scheduler.

func rawRead(fd int, buffer []byte) (int, unix.Errno) {
	size, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer)))
	return int(size), errno
}

func rawWrite(fd int, data []byte) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)))
	return errno
}
