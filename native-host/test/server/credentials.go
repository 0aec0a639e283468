package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

const (
	userName = "user"
	password = "s3cret"
	realm    = "lab"
	nonce    = "b7d1a3"
)

var digestParameter = regexp.MustCompile(`(\w+)=(?:"([^"]*)"|([^\s,]+))`)

// answerCredentials asks for user name and password by the scheme in the path, "basic" (RFC 7617) or "digest" (RFC 7616 with MD5, as
// browsers have it), and answers "well" to the right ones.
func answerCredentials(scheme string, w http.ResponseWriter, r *http.Request) {
	challenge, isRight := fmt.Sprintf("Basic realm=%q", realm), isRightBasic(r)
	if scheme == "digest" {
		challenge, isRight = fmt.Sprintf("Digest realm=%q, nonce=%q, qop=\"auth\"", realm, nonce), isRightDigest(r)
	}
	if !isRight {
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "who?")
		return
	}
	_, _ = io.WriteString(w, "well")
}

func isRightBasic(r *http.Request) bool {
	name, given, ok := r.BasicAuth()
	return ok && name == userName && given == password
}

func isRightDigest(r *http.Request) bool {
	parameters, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Digest ")
	if !ok {
		return false
	}
	given := map[string]string{}
	for _, match := range digestParameter.FindAllStringSubmatch(parameters, -1) {
		given[match[1]] = match[2] + match[3]
	}
	secret := digestOf(userName, realm, password)
	request := digestOf(r.Method, r.RequestURI)
	return given["response"] == digestOf(secret, nonce, given["nc"], given["cnonce"], "auth", request)
}

func digestOf(parts ...string) string {
	sum := md5.Sum([]byte(strings.Join(parts, ":")))
	return hex.EncodeToString(sum[:])
}
