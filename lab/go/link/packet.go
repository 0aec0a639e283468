package link

import "net/netip"

const protocolUDP = 17

// inspect reads an IP packet's size, transport and server address. ok is false for what is not a
// whole IP packet.
func inspect(data []byte, side Side) (packet Packet, ok bool) {
	if len(data) == 0 {
		return Packet{}, false
	}
	packet.Size = int32(len(data))
	switch data[0] >> 4 {
	case 4:
		if len(data) < 20 {
			return Packet{}, false
		}
		packet.UDP = data[9] == protocolUDP
		packet.Server = netip.AddrFrom4([4]byte(serverField(data, side, 12, 4)))
	case 6:
		if len(data) < 40 {
			return Packet{}, false
		}
		packet.UDP = data[6] == protocolUDP
		packet.Server = netip.AddrFrom16([16]byte(serverField(data, side, 8, 16)))
	default:
		return Packet{}, false
	}
	return packet, true
}

// serverField is the source address of a packet from the server and the destination of one to it.
func serverField(data []byte, side Side, source, size int) []byte {
	if side == Up {
		source += size
	}
	return data[source : source+size]
}
