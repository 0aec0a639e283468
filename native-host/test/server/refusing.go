package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const lateBytes = 1_000_000

// refuseHTTP2 speaks HTTP/2 on a connection and does not act on the first request for each target:
//
//	/goaway...  GOAWAY, whose last stream is the one before
//	/late...    RST_STREAM (REFUSED_STREAM), after lateBytes of its body
//	others      RST_STREAM (REFUSED_STREAM)
//
// What is asked for again gets the length of its body. Every request is reported.
func refuseHTTP2(_ *http.Server, connection *tls.Conn, _ http.Handler) {
	defer connection.Close()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(connection, preface); err != nil {
		return
	}
	framer := http2.NewFramer(connection, connection)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = framer.WriteSettings()
	bytes := map[uint32]int{}
	late := map[uint32]bool{}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		id := frame.Header().StreamID
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			target := frame.PseudoValue("path")
			emit(requestLine{
				Proto: "HTTP/2.0", Path: target, Client: connection.RemoteAddr().String(),
				Method: frame.PseudoValue("method"),
			})
			if _, again := met.LoadOrStore(target, true); !again {
				switch {
				case strings.HasPrefix(target, "/goaway"):
					_ = framer.WriteGoAway(id-2, http2.ErrCodeNo, nil)
				case strings.HasPrefix(target, "/late"):
					bytes[id] = 0
					late[id] = true
				default:
					_ = framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
				}
				continue
			}
			bytes[id] = 0
			if frame.StreamEnded() {
				answerHTTP2(framer, id, 0)
			}
		case *http2.DataFrame:
			length, isOurs := bytes[id]
			if !isOurs {
				continue
			}
			bytes[id] = length + len(frame.Data())
			_ = framer.WriteWindowUpdate(0, uint32(len(frame.Data())+1))
			_ = framer.WriteWindowUpdate(id, uint32(len(frame.Data())+1))
			if late[id] && bytes[id] > lateBytes {
				delete(bytes, id)
				_ = framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			} else if frame.StreamEnded() {
				answerHTTP2(framer, id, bytes[id])
			}
		}
	}
}

func answerHTTP2(framer *http2.Framer, id uint32, length int) {
	var block headerBlock
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true})
	_ = framer.WriteData(id, true, []byte(strconv.Itoa(length)))
}

type headerBlock []byte

func (b *headerBlock) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
