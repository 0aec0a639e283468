package pcwnd

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
)

// Event is one line of the trace that a tracker needs.
type Event struct {
	// Peer is the port of the connection's other end.
	Peer uint16
	// Probe is a sample of tcp:tcp_probe, taken when a segment has arrived and before it is processed.
	Probe bool
	Sample
	// Cookie is the socket's (SO_COOKIE); of probes only.
	Cookie uint64
	// State is the new state of tcp:tcp_cong_state_set.
	State int
	// Lost counts events that the ring buffer had no room for, when the line says that and nothing else.
	Lost uint64
}

// The lines as trace_pipe prints them, behind an optional context that has any process's name in it:
//
//	tcp_probe: family=AF_INET src=198.19.1.1:20001 dest=198.18.0.2:40312 mark=0x0 data_len=0 snd_nxt=0x… snd_una=0x… snd_cwnd=10 …
//	tcp_cong_state_set: family=AF_INET sport=20001 dport=40312 saddr=… cong_state=3
//	CPU:1 [LOST 42 EVENTS]
var (
	probeMark = []byte("tcp_probe: ")
	stateMark = []byte("tcp_cong_state_set: ")
	lostMark  = []byte("[LOST ")
)

// ParseLine reads a line of trace_pipe. Lines of anything else are no event and no error.
func ParseLine(line []byte) (event Event, found bool, err error) {
	// Process names come first and may contain a mark; the last one is the kernel's.
	if at := bytes.LastIndex(line, probeMark); at >= 0 {
		event, err = parseProbe(line[at+len(probeMark):])
		return event, err == nil, err
	}
	if at := bytes.LastIndex(line, stateMark); at >= 0 {
		event, err = parseState(line[at+len(stateMark):])
		return event, err == nil, err
	}
	if rest, is := bytes.CutPrefix(line, []byte("CPU:")); is {
		if at := bytes.Index(rest, lostMark); at >= 0 {
			// It is a number, or "EVENTS" where the kernel does not know how many.
			count, _, _ := bytes.Cut(rest[at+len(lostMark):], []byte(" "))
			event.Lost, err = strconv.ParseUint(string(count), 10, 64)
			if err != nil || event.Lost == 0 {
				event.Lost = 1
			}
			return event, true, nil
		}
	}
	return event, false, nil
}

func parseProbe(fields []byte) (Event, error) {
	event := Event{Probe: true}
	missing := map[string]bool{"dest": true, "snd_nxt": true, "snd_una": true, "snd_cwnd": true, "sock_cookie": true}
	for field := range bytes.FieldsSeq(fields) {
		name, value, _ := bytes.Cut(field, []byte("="))
		var err error
		switch string(name) {
		case "dest":
			var peer netip.AddrPort
			peer, err = netip.ParseAddrPort(string(value))
			event.Peer = peer.Port()
		case "snd_nxt":
			event.Next, err = number32(value, 0)
		case "snd_una":
			event.Unacknowledged, err = number32(value, 0)
		case "snd_cwnd":
			event.Cwnd, err = number32(value, 10)
		case "sock_cookie":
			event.Cookie, err = strconv.ParseUint(string(value), 16, 64)
		}
		if err != nil {
			return event, fmt.Errorf("tcp_probe: %s: expected a number, got %.40q", name, value)
		}
		delete(missing, string(name))
	}
	for name := range missing {
		return event, fmt.Errorf("tcp_probe: expected a field %s", name)
	}
	return event, nil
}

func parseState(fields []byte) (Event, error) {
	event := Event{}
	missing := map[string]bool{"dport": true, "cong_state": true}
	for field := range bytes.FieldsSeq(fields) {
		name, value, _ := bytes.Cut(field, []byte("="))
		var err error
		switch string(name) {
		case "dport":
			var port uint64
			port, err = strconv.ParseUint(string(value), 10, 16)
			event.Peer = uint16(port)
		case "cong_state":
			event.State, err = strconv.Atoi(string(value))
			if err == nil && (event.State < caOpen || event.State > caLoss) {
				err = strconv.ErrRange
			}
		}
		if err != nil {
			return event, fmt.Errorf("tcp_cong_state_set: %s: expected a number, got %.40q", name, value)
		}
		delete(missing, string(name))
	}
	for name := range missing {
		return event, fmt.Errorf("tcp_cong_state_set: expected a field %s", name)
	}
	return event, nil
}

func number32(text []byte, base int) (uint32, error) {
	value, err := strconv.ParseUint(string(text), base, 32)
	return uint32(value), err
}
