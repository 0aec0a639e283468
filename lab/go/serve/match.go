package serve

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// candidate is a resource that may answer a request.
type candidate struct {
	// method is empty for a resource that answers every method.
	method string
	// target is the path with the query, as in site.json.
	target string
	// digest is the SHA-256 of the request's body in hex, empty where the body does not matter.
	digest string
	answer *answer
}

// index finds the resource of one origin that answers a request.
type index struct {
	byTarget map[string][]candidate
	byPath   map[string][]candidate
}

func newIndex() index {
	return index{byTarget: map[string][]candidate{}, byPath: map[string][]candidate{}}
}

func (x index) add(c candidate) {
	path, _, _ := strings.Cut(c.target, "?")
	x.byTarget[c.target] = append(x.byTarget[c.target], c)
	x.byPath[path] = append(x.byPath[path], c)
}

// find returns the resource for a request: the one with this path and query; else, among those with this path, the one with the
// most query parameters in common, the first of the site if several have. A resource without any common parameter answers only
// if the queries differ only in cache-busting values. digest is called when resources differ only in the request's body.
func (x index) find(method, target string, digest func() string) (candidate, bool) {
	if same := allow(x.byTarget[target], method); len(same) > 0 {
		return byDigest(same, digest), true
	}
	path, query, _ := strings.Cut(target, "?")
	asked := parameters(query)
	var best []candidate
	var bestLikeness likeness
	for _, c := range allow(x.byPath[path], method) {
		_, recorded, _ := strings.Cut(c.target, "?")
		like, ok := compare(asked, parameters(recorded))
		if !ok {
			continue
		}
		switch order := like.compare(bestLikeness); {
		case best == nil || order > 0:
			best, bestLikeness = []candidate{c}, like
		case c.target == best[0].target:
			best = append(best, c)
		}
	}
	if best == nil {
		return candidate{}, false
	}
	return byDigest(best, digest), true
}

// allow keeps the resources that answer the method; HEAD is GET without content (RFC 9110, section 9.3.2).
func allow(candidates []candidate, method string) []candidate {
	wanted := []string{method, ""}
	if method == http.MethodHead {
		wanted = []string{method, http.MethodGet, ""}
	}
	for _, wanted := range wanted {
		var kept []candidate
		for _, c := range candidates {
			if c.method == wanted {
				kept = append(kept, c)
			}
		}
		if kept != nil {
			return kept
		}
	}
	return nil
}

func byDigest(candidates []candidate, digest func() string) candidate {
	if len(candidates) > 1 {
		asked := digest()
		for _, c := range candidates {
			if c.digest == asked {
				return c
			}
		}
	}
	return candidates[0]
}

// likeness orders the resources of one path: more equal parameters first, then more common cache-busting parameters of any
// value, then fewer parameters missing on the other side.
type likeness struct{ equal, busting, unmatched int }

func (l likeness) compare(other likeness) int {
	return cmp.Or(
		cmp.Compare(l.equal, other.equal),
		cmp.Compare(l.busting, other.busting),
		cmp.Compare(other.unmatched, l.unmatched),
	)
}

type parameter struct{ name, value string }

// parameters splits a query; undecodable parts stay as they are.
func parameters(query string) []parameter {
	var found []parameter
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		found = append(found, parameter{decoded(name), decoded(value)})
	}
	return found
}

func decoded(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// compare pairs equal parameters, then cache-busting ones. It fails where the sides share no significant parameter and at least
// one of them has one.
func compare(asked, recorded []parameter) (likeness, bool) {
	var like likeness
	asked, recorded = slices.Clone(asked), slices.Clone(recorded)
	pair := func(matches func(a, b parameter) bool) (count int) {
		for i := 0; i < len(asked); {
			j := slices.IndexFunc(recorded, func(b parameter) bool { return matches(asked[i], b) })
			if j < 0 {
				i++
				continue
			}
			asked, recorded = slices.Delete(asked, i, i+1), slices.Delete(recorded, j, j+1)
			count++
		}
		return count
	}
	// An equal time or random number does not show that the same resource is requested.
	like.equal = pair(func(a, b parameter) bool { return a == b && !bustingName.MatchString(a.name) })
	like.busting = pair(func(a, b parameter) bool {
		return bustsCache(a) && bustsCache(b) && (a.name == b.name || a.value == "" && b.value == "")
	})
	matters := false
	for _, p := range slices.Concat(asked, recorded) {
		if !bustsCache(p) {
			like.unmatched++
			matters = true
		}
	}
	return like, like.equal > 0 || !matters
}

var (
	// Parameter names that scripts use to defeat caches.
	bustingName = regexp.MustCompile(`(?i)^(_|cb|cache_?buster?|no_?cache|rnd|rand|random|ord|ts|t|time|timestamp|nonce)$`)
	// Times since 1970, random fractions and integers, hex digests, UUIDs.
	bustingValue = regexp.MustCompile(`(?i)^(\d{5,}|\d?\.\d{4,}|[0-9a-f]{16,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
)

// bustsCache recognises a parameter whose value changes with every load, such as "_=1700000000000" or the
// bare "1700000000000".
func bustsCache(p parameter) bool {
	if p.value == "" {
		return bustingName.MatchString(p.name) || bustingValue.MatchString(p.name)
	}
	return bustingName.MatchString(p.name) || bustingValue.MatchString(p.value)
}

// maxRequestBytes bounds how much of a request's body is read to compute its digest.
const maxRequestBytes = 16 << 20

// requestDigest reads a request's body and returns its SHA-256 in hex.
func requestDigest(r *http.Request) func() string {
	return func() string {
		if r.Body == nil {
			return ""
		}
		hash := sha256.New()
		if _, err := io.Copy(hash, io.LimitReader(r.Body, maxRequestBytes)); err != nil {
			return ""
		}
		return hex.EncodeToString(hash.Sum(nil))
	}
}
