package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
)

// endless, as the times of a step: until the stream or the connection ends.
const endless = -1

// step is one thing that a raw server does on a connection.
type step struct {
	// Stream is "request", or any name of a unidirectional stream of the server's, which is opened when it is first named.
	Stream string `json:"stream"`
	Bytes  []byte `json:"bytes"`
	Times  int    `json:"times"`
	// PauseMs passes before what becomes of the stream: a reset takes back what has not been sent.
	PauseMs int `json:"pauseMs"`
	// After says what becomes of the stream ("fin", "reset", "stop", which is STOP_SENDING) or of its connection ("close").
	After string `json:"after"`
	// Code is that of the reset, the STOP_SENDING or the CONNECTION_CLOSE.
	Code uint64 `json:"code"`
}

// script is a line of the standard input. Each is confirmed by a line {"set": true}.
type script struct {
	// Opening is sent on new connections before anything else.
	Opening []step `json:"opening"`
	// Answer is sent to each request once its first bytes have come.
	Answer []step `json:"answer"`
	// Renew ends the connections that are there.
	Renew bool `json:"renew"`
}

// rawHTTP3 opens QUIC connections as an HTTP/3 server does and sends on them what scripts say: nothing of HTTP/3 is its own.
type rawHTTP3 struct {
	lock        sync.Mutex
	script      script
	connections map[*quic.Conn]bool
}

// serve ends with input.
func (s *rawHTTP3) serve(packets net.PacketConn, certificate tls.Certificate, input io.Reader) error {
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h3"}}
	listener, err := quic.Listen(packets, config, nil)
	if err != nil {
		return err
	}
	go func() {
		for {
			connection, err := listener.Accept(context.Background())
			if err != nil {
				return
			}
			go s.hold(connection)
		}
	}()
	emit(map[string]int{"port": packets.LocalAddr().(*net.UDPAddr).Port})
	lines := json.NewDecoder(bufio.NewReader(input))
	for {
		var next script
		if err := lines.Decode(&next); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		s.set(next)
		emit(map[string]bool{"set": true})
	}
}

func (s *rawHTTP3) set(next script) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.script = next
	if !next.Renew {
		return
	}
	for connection := range s.connections {
		_ = connection.CloseWithError(0x100, "")
	}
}

func (s *rawHTTP3) hold(connection *quic.Conn) {
	s.lock.Lock()
	s.connections[connection] = true
	opening := s.script.Opening
	s.lock.Unlock()
	ours := &ownStreams{connection: connection, open: map[string]*quic.SendStream{}}
	ours.run(opening, nil)
	for {
		request, err := connection.AcceptStream(context.Background())
		if err != nil {
			break
		}
		go func() {
			if _, err := request.Read(make([]byte, 1)); err != nil {
				return
			}
			s.lock.Lock()
			answer := s.script.Answer
			s.lock.Unlock()
			go func() { _, _ = io.Copy(io.Discard, request) }()
			ours.run(answer, request)
		}()
	}
	s.lock.Lock()
	delete(s.connections, connection)
	s.lock.Unlock()
}

// ownStreams are the unidirectional ones of a server on a connection.
type ownStreams struct {
	connection *quic.Conn
	lock       sync.Mutex
	open       map[string]*quic.SendStream
}

func (o *ownStreams) named(name string) (*quic.SendStream, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if stream, isOpen := o.open[name]; isOpen {
		return stream, nil
	}
	stream, err := o.connection.OpenUniStream()
	if err == nil {
		o.open[name] = stream
	}
	return stream, err
}

type writer interface {
	io.WriteCloser
	CancelWrite(quic.StreamErrorCode)
}

func (o *ownStreams) run(steps []step, request *quic.Stream) {
	for _, one := range steps {
		var stream writer = request
		if one.Stream != "request" {
			own, err := o.named(one.Stream)
			if err != nil {
				return
			}
			stream = own
		}
		for done := 0; one.Times == endless || done < one.Times; done++ {
			if _, err := stream.Write(one.Bytes); err != nil {
				break
			}
		}
		time.Sleep(time.Duration(one.PauseMs) * time.Millisecond)
		switch one.After {
		case "fin":
			_ = stream.Close()
		case "reset":
			stream.CancelWrite(quic.StreamErrorCode(one.Code))
		case "stop":
			request.CancelRead(quic.StreamErrorCode(one.Code))
		case "close":
			_ = o.connection.CloseWithError(quic.ApplicationErrorCode(one.Code), "")
		}
	}
}
