package serve

import "github.com/dunglas/httpsfv"

// priority is how soon a client wants a response (RFC 9218, section 4).
type priority struct {
	// urgency is 0 for the most urgent to 7.
	urgency int64
	// incremental is true when the client can use a part of the response.
	incremental bool
}

const (
	defaultUrgency = 3
	maxUrgency     = 7
)

// parsePriority reads the Priority header fields of a request. Unreadable fields and values out of range are ignored (RFC 9218,
// sections 4 and 5).
func parsePriority(fields []string) priority {
	wanted := priority{urgency: defaultUrgency}
	parameters, err := httpsfv.UnmarshalDictionary(fields)
	if err != nil {
		return wanted
	}
	if urgency, ok := valueOf(parameters, "u").(int64); ok && urgency >= 0 && urgency <= maxUrgency {
		wanted.urgency = urgency
	}
	wanted.incremental, _ = valueOf(parameters, "i").(bool)
	return wanted
}

func valueOf(parameters *httpsfv.Dictionary, name string) any {
	member, _ := parameters.Get(name)
	item, _ := member.(httpsfv.Item)
	return item.Value
}
