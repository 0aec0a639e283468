package serve

import "sync"

// Entry is one answered request as the server saw it, with its protocol.
type Entry struct {
	Origin string `json:"origin"`
	Method string `json:"method"`
	Path   string `json:"path"`
	// Answered is the path of the answering resource, if it is a similar one.
	Answered string `json:"answered,omitempty"`
	Protocol string `json:"protocol"`
	Status   int    `json:"status"`
	// Bytes of the body written.
	Bytes int `json:"bytes"`
	// StartMs is when the request's header had arrived, Unix time.
	StartMs    float64 `json:"startMs"`
	DurationMs float64 `json:"durationMs"`
	// Connection numbers the connections of one server run.
	Connection uint64 `json:"connection"`
	// Resumed is true when the connection's TLS handshake resumed an earlier session.
	Resumed bool `json:"resumed,omitempty"`
	// EarlyData is true when the connection began with early data (0-RTT).
	EarlyData bool `json:"earlyData,omitempty"`
	// Miss is true when the site has no such resource.
	Miss bool `json:"miss,omitempty"`
	// Aborted is true when the client disconnected before the end.
	Aborted bool `json:"aborted,omitempty"`
}

// maxEntries bounds the log; dropped entries are counted.
const maxEntries = 20_000

// maxErrors bounds the errors kept between two readings of the log.
const maxErrors = 50

// Log has the requests and errors since the last reading.
type Log struct {
	Entries []Entry `json:"entries"`
	// Dropped counts the oldest entries, removed beyond the log's bound.
	Dropped uint64 `json:"dropped"`
	// Errors are messages of the HTTP and TLS stacks, at most 50.
	Errors []string `json:"errors"`
}

type recorder struct {
	mutex   sync.Mutex
	entries []Entry
	next    int
	dropped uint64
	errors  []string
}

func (r *recorder) add(entry Entry) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.entries) < maxEntries {
		r.entries = append(r.entries, entry)
		return
	}
	r.entries[r.next] = entry
	r.next = (r.next + 1) % maxEntries
	r.dropped++
}

// Write receives a line of the standard logger.
func (r *recorder) Write(line []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.errors) < maxErrors {
		text := line
		if len(text) > 300 {
			text = text[:300]
		}
		r.errors = append(r.errors, string(text))
	}
	return len(line), nil
}

func (r *recorder) take() Log {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	log := Log{
		Entries: append(append([]Entry{}, r.entries[r.next:]...), r.entries[:r.next]...),
		Dropped: r.dropped, Errors: append([]string{}, r.errors...),
	}
	r.entries, r.next, r.dropped, r.errors = r.entries[:0], 0, 0, nil
	return log
}
