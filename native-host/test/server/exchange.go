package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

var (
	cancelled atomic.Int64
	met       sync.Map
)

// answerExchange serves what the tests of exchanges ask for:
//
//	/random/N    N bytes, their SHA-256 in the trailer X-Digest
//	/file/N      the same N bytes each time, or ranges of them; ?tag=T as their entity tag,
//	             ?pause=MS after a half, ?rest=KIND see answerRest
//	/digest      what has come as JSON: bytes, digest, length announced, headers, target
//	/slow-digest the same, 64 kB every 5 ms
//	/sink        nothing, after the whole body has come
//	/echo        every byte as soon as it comes
//	/early       103 and 103 before the response
//	/cookies     three Set-Cookie lines, and Strict-Transport-Security
//	/silent      headers, a first byte, and then nothing until the client goes
//	/pause/N     a first byte, N ms of nothing, and a last byte
//	/cancelled   how many clients have gone from /silent
//	/once        the second request of a connection ends it without a byte of an answer
//	/raw         HTTP/1.1: the bytes in ?answer= (base64url), then the end of the connection
//	/goaway      nothing, and the end of the connection as soon as nothing is under way on it (HTTP/2: GOAWAY)
//	/rejected    HTTP/3: the first request is rejected (H3_REQUEST_REJECTED), others get the length of their body
//	/abort       no answer: the stream is reset with an internal error
//	/refuse      an answer before the body, which is not read
//	/says        what ?answer= says, see answerAsTold
//	/credentials/basic, /credentials/digest   see answerCredentials
//	/large/N     a response whose header field X-Large has N bytes
//	/seeded/N    see answerSeeded
func answerExchange(kind string, number int, w http.ResponseWriter, r *http.Request) bool {
	controller := http.NewResponseController(w)
	switch kind {
	case "random":
		w.Header().Set("Trailer", "X-Digest")
		source := rand.NewChaCha8([32]byte{byte(number)})
		digest := sha256.New()
		buffer := make([]byte, 32<<10)
		for sent := 0; sent < number; {
			part := buffer[:min(len(buffer), number-sent)]
			_, _ = source.Read(part)
			_, _ = digest.Write(part)
			if _, err := w.Write(part); err != nil {
				return true
			}
			sent += len(part)
		}
		w.Header().Set("X-Digest", hex.EncodeToString(digest.Sum(nil)))
	case "file":
		content := make([]byte, number)
		source := rand.NewChaCha8([32]byte{})
		_, _ = source.Read(content)
		if tag := r.URL.Query().Get("tag"); tag != "" {
			w.Header().Set("ETag", strconv.Quote(tag))
		}
		if pause, err := strconv.Atoi(r.URL.Query().Get("pause")); err == nil && r.Header.Get("Range") == "" {
			answerInHalves(content, time.Duration(pause)*time.Millisecond, w, r)
		} else if r.Header.Get("Range") == "" || !answerRest(r.URL.Query().Get("rest"), content, w, r) {
			http.ServeContent(w, r, "file.bin", began, bytes.NewReader(content))
		}
	case "digest", "slow-digest":
		digest := sha256.New()
		var body io.Reader = r.Body
		if kind == "slow-digest" {
			body = slowReader{r.Body}
		}
		size, err := io.Copy(digest, body)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"bytes": size, "whole": err == nil, "digest": hex.EncodeToString(digest.Sum(nil)),
			"length": r.ContentLength, "encoding": r.TransferEncoding, "headers": r.Header, "target": r.RequestURI,
			"method": r.Method, "trailer": r.Trailer,
		})
	case "sink":
		_, _ = io.Copy(io.Discard, r.Body)
	case "echo":
		_ = controller.EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		_ = controller.Flush()
		buffer := make([]byte, 32<<10)
		for {
			n, err := r.Body.Read(buffer)
			if _, failed := w.Write(buffer[:n]); failed != nil || err != nil {
				return true
			}
			_ = controller.Flush()
		}
	case "early":
		w.Header().Add("Link", "</a.css>; rel=preload")
		w.Header().Add("Link", "</b.js>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Link", "</c.png>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "late")
	case "cookies":
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "X-Hop")
			w.Header().Set("X-Hop", "of this connection")
		}
		for _, value := range []string{"c=3", "a=1; Path=/", "b=2"} {
			w.Header().Add("Set-Cookie", value)
		}
		w.Header().Set("Strict-Transport-Security", "max-age=60; includeSubDomains")
		w.Header().Set("X-Latin", "gr\xfc\xdfe")
		w.Header().Set("X-Empty", "")
	case "silent":
		_ = controller.EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "a")
		_ = controller.Flush()
		<-r.Context().Done()
		cancelled.Add(1)
	case "pause":
		_, _ = io.WriteString(w, "a")
		_ = controller.Flush()
		if wait(r.Context(), time.Duration(number)*time.Millisecond) {
			_, _ = io.WriteString(w, "b")
		}
	case "cancelled":
		_, _ = io.WriteString(w, strconv.FormatInt(cancelled.Load(), 10))
	case "once":
		if _, again := met.LoadOrStore(r.RemoteAddr, true); again {
			if connection, _, err := controller.Hijack(); err == nil {
				_ = connection.Close()
			}
		}
	case "raw":
		if connection, _, err := controller.Hijack(); err == nil {
			answer, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("answer"))
			_, _ = connection.Write(answer)
			_ = connection.Close()
		}
	case "abort":
		panic(http.ErrAbortHandler)
	case "goaway":
		w.Header().Set("Connection", "close")
	case "rejected":
		if _, again := met.LoadOrStore(r.URL.RequestURI(), true); !again {
			stream := w.(http3.HTTPStreamer).HTTPStream()
			stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
			stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
			return true
		}
		bytes, _ := io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strconv.FormatInt(bytes, 10))
	case "refuse":
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case "says":
		answerAsTold(w, r)
	case "credentials":
		answerCredentials(path.Base(r.URL.Path), w, r)
	case "large":
		w.Header().Set("X-Large", strings.Repeat("a", number))
		_, _ = io.WriteString(w, "large")
	case "seeded":
		answerSeeded(number, w, r)
	default:
		return false
	}
	return true
}

type slowReader struct{ body io.Reader }

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(5 * time.Millisecond)
	return s.body.Read(p[:min(len(p), 64<<10)])
}
