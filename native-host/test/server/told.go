package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
)

// toldAnswer is what a test wants to be answered.
type toldAnswer struct {
	Status int         `json:"status"`
	Fields [][2]string `json:"fields"`
	// Body is base64url; empty for none.
	Body     string      `json:"body"`
	Trailers [][2]string `json:"trailers"`
}

// answerAsTold gives the answer in the query, base64url of JSON. A body whose length is not told comes after the header has gone out.
func answerAsTold(w http.ResponseWriter, r *http.Request) {
	var told toldAnswer
	text, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("answer"))
	if err != nil || json.Unmarshal(text, &told) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	header := w.Header()
	// Nothing that the test has not told, but the date.
	header["Content-Type"] = nil
	for _, field := range told.Fields {
		header.Add(field[0], field[1])
	}
	for _, field := range told.Trailers {
		header.Add("Trailer", field[0])
	}
	w.WriteHeader(told.Status)
	body, _ := base64.RawURLEncoding.DecodeString(told.Body)
	if len(body) > 0 && r.Method != http.MethodHead {
		if header.Get("Content-Length") == "" {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(body)
	} else if len(told.Trailers) > 0 {
		_, _ = io.WriteString(w, "")
	}
	for _, field := range told.Trailers {
		header.Set(field[0], field[1])
	}
}
