package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"net/http"
	"strconv"
	"time"
)

// seeded returns bytes that only seed determines, so that a test can recognise them: the key stream of AES-128-CTR with twelve
// zero bytes and seed as the key.
func seeded(length int, seed uint32) []byte {
	key := make([]byte, 16)
	binary.BigEndian.PutUint32(key[12:], seed)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	body := make([]byte, length)
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(body, body)
	return body
}

// answerSeeded serves /seeded/N?seed=S, with its ranges; ?pause=MS in 20 pieces of unannounced length with pauses between them.
func answerSeeded(number int, w http.ResponseWriter, r *http.Request) {
	seed, _ := strconv.ParseUint(r.URL.Query().Get("seed"), 10, 32)
	body := seeded(number, uint32(seed))
	w.Header().Set("Content-Type", "application/octet-stream")
	pause, err := strconv.Atoi(r.URL.Query().Get("pause"))
	if err != nil {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		return
	}
	piece := max(1, (number+19)/20)
	for len(body) > 0 {
		length := min(piece, len(body))
		if _, err := w.Write(body[:length]); err != nil {
			return
		}
		body = body[length:]
		_ = http.NewResponseController(w).Flush()
		if !wait(r.Context(), time.Duration(pause)*time.Millisecond) {
			// An ordinary return would end the response as if it were whole.
			panic(http.ErrAbortHandler)
		}
	}
}
