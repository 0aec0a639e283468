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
	// Cookie is the socket's (SO_COOKIE); only in probes.
	Cookie uint64
	// State is the new state of tcp:tcp_cong_state_set.
	State int
	// Lost counts events that did not fit the ring buffer, if the line reports that.
	Lost uint64
}

// The lines as printed by trace_pipe, after an optional context that contains a process's name:
//
//	tcp_probe: family=AF_INET src=198.19.1.1:20001 dest=198.18.0.2:40312 mark=0x0 data_len=0 snd_nxt=0x… snd_una=0x… snd_cwnd=10 …
//	tcp_cong_state_set: family=AF_INET sport=20001 dport=40312 saddr=… cong_state=3
//	CPU:1 [LOST 42 EVENTS]
var (
	probeMark = []byte("tcp_probe: ")
	stateMark = []byte("tcp_cong_state_set: ")
	lostMark  = []byte("[LOST ")
)

// ParseLine reads a line of trace_pipe. Other lines yield no event and no error.
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
			// A number, or "EVENTS" where the kernel does not know how many.
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

// parseFields passes each named field to read and fails if one is missing.
func parseFields(name string, text []byte, names []string, read func(name string, value []byte) error) error {
	seen := 0
	for field := range bytes.FieldsSeq(text) {
		key, value, _ := bytes.Cut(field, []byte("="))
		for i, wanted := range names {
			if string(key) != wanted {
				continue
			}
			if err := read(wanted, value); err != nil {
				return fmt.Errorf("%s: %s: expected a number, got %.40q", name, wanted, value)
			}
			seen |= 1 << i
		}
	}
	for i, wanted := range names {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("%s: expected a field %s", name, wanted)
		}
	}
	return nil
}

var probeFields = []string{"dest", "snd_nxt", "snd_una", "snd_cwnd", "sock_cookie"}

func parseProbe(fields []byte) (Event, error) {
	event := Event{Probe: true}
	err := parseFields("tcp_probe", fields, probeFields, func(name string, value []byte) (err error) {
		switch name {
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
		return err
	})
	return event, err
}

var stateFields = []string{"dport", "cong_state"}

func parseState(fields []byte) (Event, error) {
	event := Event{}
	err := parseFields("tcp_cong_state_set", fields, stateFields, func(name string, value []byte) error {
		number, err := strconv.ParseUint(string(value), 10, 16)
		switch name {
		case "dport":
			event.Peer = uint16(number)
		case "cong_state":
			event.State = int(number)
			if number > caLoss {
				return strconv.ErrRange
			}
		}
		return err
	})
	return event, err
}

func number32(text []byte, base int) (uint32, error) {
	value, err := strconv.ParseUint(string(text), base, 32)
	return uint32(value), err
}
