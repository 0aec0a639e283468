package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answerRest answers a request for the bytes of content from some byte on as a server may that is not to be trusted with it:
//
//	changed   there is another file by now: whole, as If-Range wants it
//	unasked   the same, as a part: a server that knows no If-Range
//	whole     the file, whole, though nothing has changed
//	shifted   the bytes from the next one on
//	several   the range in two parts (multipart/byteranges)
//	coded     the bytes of a coding of the file
//	other     a part of a longer file
//	short     half of the bytes, then an abrupt end
//	long      a byte more, without a length
//	slow      the right bytes, the first of them after two seconds
func answerRest(kind string, content []byte, w http.ResponseWriter, r *http.Request) bool {
	from, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
	if err != nil {
		return false
	}
	header, size := w.Header(), len(content)
	asPart := func(from, size int, body []byte) bool {
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, size-1, size))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(body)
		return true
	}
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Last-Modified", began.UTC().Format(http.TimeFormat))
	switch kind {
	case "changed":
		header.Set("ETag", `"changed"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(make([]byte, size)))
	case "unasked":
		header.Set("ETag", `"changed"`)
		asPart(from, size, make([]byte, size-from))
	case "whole":
		_, _ = w.Write(content)
	case "shifted":
		asPart(from+1, size, content[from+1:])
	case "several":
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d,%d-", from, from+9, from+10))
		header.Del("Content-Type")
		return false
	case "coded":
		header.Set("Content-Encoding", "gzip")
		asPart(from, size, content[from:])
	case "other":
		asPart(from, size+1, append(content[from:], 0))
	case "short":
		header.Set("Content-Length", strconv.Itoa(size-from))
		asPart(from, size, content[from:from+(size-from)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "long":
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, size-1, size))
		w.WriteHeader(http.StatusPartialContent)
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(append(content[from:], 0))
	case "slow":
		header.Del("Content-Type")
		wait(r.Context(), 2*time.Second)
		return false
	default:
		header.Del("Content-Type")
		return false
	}
	return true
}

func answerInHalves(content []byte, pause time.Duration, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content[:len(content)/2])
	_ = http.NewResponseController(w).Flush()
	if !wait(r.Context(), pause) {
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(content[len(content)/2:])
}
