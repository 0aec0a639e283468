package serve

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// asAsked applies the request's conditions and range to a whole answer, in this order (RFC 9110,
// section 13.2.2).
func asAsked(whole *answer, r *http.Request) *answer {
	if isUnchanged(whole, r) {
		return notModified(whole)
	}
	return partOf(whole, r)
}

// isUnchanged reports whether the client has the answer already (RFC 9110, sections 13.1.2 and 13.1.3).
func isUnchanged(whole *answer, r *http.Request) bool {
	if whole.status != http.StatusOK || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		return false
	}
	if known := r.Header.Values("If-None-Match"); len(known) > 0 {
		asked := strings.Join(known, ",")
		own := opaqueTag.FindString(whole.header.Get("Etag"))
		return strings.TrimSpace(asked) == "*" || own != "" && slices.Contains(opaqueTag.FindAllString(asked, -1), own)
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if err != nil {
		return false
	}
	modified, err := http.ParseTime(whole.header.Get("Last-Modified"))
	return err == nil && !modified.After(since)
}

// opaqueTag returns the part of an entity tag used in weak comparison (RFC 9110, section 8.8.3.2).
var opaqueTag = regexp.MustCompile(`"[^"]*"`)

// notModified keeps the answer's header fields that a cache needs (RFC 9110, section 15.4.5).
func notModified(whole *answer) *answer {
	unchanged := *whole
	unchanged.status, unchanged.body = http.StatusNotModified, nil
	unchanged.header = whole.header.Clone()
	for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Type"} {
		unchanged.header.Del(name)
	}
	return &unchanged
}

// isSameAsBefore reports whether the client may join a part with the one that it has: not if it names another version of the
// resource, or one that a weak tag does not tell from others (RFC 9110, section 13.1.5). What was recorded never changes, so that its date is
// a strong validator (section 8.8.2.2).
func isSameAsBefore(whole *answer, r *http.Request) bool {
	named := r.Header.Values("If-Range")
	if len(named) != 1 {
		return len(named) == 0
	}
	if strings.HasPrefix(named[0], `"`) {
		return named[0] == whole.header.Get("Etag")
	}
	before, err := http.ParseTime(named[0])
	if err != nil {
		return false
	}
	modified, err := http.ParseTime(whole.header.Get("Last-Modified"))
	return err == nil && modified.Equal(before)
}

var byteRange = regexp.MustCompile(`^bytes=(\d{0,15})-(\d{0,15})$`)

// partOf returns the part of a whole answer that a range request asks for (RFC 9110, section 14), if the resource's recorded
// server accepted ranges. Requests for several ranges get the whole, as allowed.
func partOf(whole *answer, r *http.Request) *answer {
	asked := r.Header.Get("Range")
	if r.Method != http.MethodGet || whole.status != http.StatusOK ||
		!strings.EqualFold(whole.header.Get("Accept-Ranges"), "bytes") {
		return whole
	}
	match := byteRange.FindStringSubmatch(asked)
	if !isSameAsBefore(whole, r) || match == nil || match[1] == "" && match[2] == "" {
		return whole
	}
	size := len(whole.body)
	// The expression only matches digits that fit.
	first, _ := strconv.Atoi(match[1])
	last, _ := strconv.Atoi(match[2])
	switch {
	case match[1] != "" && match[2] != "" && last < first:
		return whole
	case match[1] == "":
		first, last = max(0, size-last), size-1
	case match[2] == "":
		last = size - 1
	}
	last = min(last, size-1)
	part := *whole
	part.header = whole.header.Clone()
	if first > last {
		part.status, part.body = http.StatusRequestedRangeNotSatisfiable, nil
		part.header.Set("Content-Range", "bytes */"+strconv.Itoa(size))
		return &part
	}
	part.status, part.body = http.StatusPartialContent, whole.body[first:last+1]
	part.header.Set("Content-Range", "bytes "+strconv.Itoa(first)+"-"+strconv.Itoa(last)+"/"+strconv.Itoa(size))
	return &part
}
