// Package site reads a site on disk: site.json and the bodies beside it.
package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Site is what a replay server serves.
type Site struct {
	Format    string     `json:"format"`
	Version   int        `json:"version"`
	Name      string     `json:"name"`
	Entry     string     `json:"entry"`
	Origins   []Origin   `json:"origins"`
	Resources []Resource `json:"resources"`
	// Determinism seeds the page's randomness and clock, for the browser that loads it.
	Determinism *Determinism `json:"determinism,omitempty"`

	root *os.Root
}

// Origin is one https://host with its server's protocols and settings.
type Origin struct {
	Origin    string   `json:"origin"`
	Protocols []string `json:"protocols"`
	// ExtraRTTMs is the round trip beyond the link's.
	ExtraRTTMs float64 `json:"extraRttMs"`
	// UDPMbps is the rate to which UDP from and to the server is policed in each direction, whatever the link does; 0 for none.
	UDPMbps float64 `json:"udpMbps,omitempty"`
	// ThinkMs is added to each resource's own.
	ThinkMs float64 `json:"thinkMs"`
	// AltSvc is false for a server that serves HTTP/3 without offering it by Alt-Svc; nil means true.
	AltSvc *bool `json:"altSvc,omitempty"`
	// TLSVersion is the highest that the server speaks over TCP: 1.2 or 1.3, the default.
	TLSVersion string `json:"tlsVersion,omitempty"`
	// EarlyData is whether the server accepts 0-RTT over HTTP/3.
	EarlyData bool `json:"earlyData,omitempty"`
	Settings
}

// OffersH3 is whether answers carry an Alt-Svc header for HTTP/3.
func (o Origin) OffersH3() bool {
	return slices.Contains(o.Protocols, "h3") && (o.AltSvc == nil || *o.AltSvc)
}

// Settings are a server's settings; those absent in the site come from the lab.
type Settings struct {
	// CongestionControl is that of TCP: cubic, reno or bbr.
	CongestionControl string `json:"congestionControl"`
	// InitialWindow is that of TCP in segments.
	InitialWindow int `json:"initialWindow"`
	// PacingMbps is the highest rate at which TCP or quiche sends, spreading a window over the round trip; without it they do not pace
	// (but for BBR).
	PacingMbps float64 `json:"pacingMbps,omitempty"`
	// StartRate makes the server ask for the rates of its clients (Accept-CH: Start-Rate) and begin later connections at them.
	StartRate bool `json:"startRate,omitempty"`
	// Priorities is PrioritiesHonoured or PrioritiesIgnored.
	Priorities string `json:"priorities"`
}

// A server's treatment of request priorities (RFC 9218).
const (
	PrioritiesHonoured = "honoured"
	PrioritiesIgnored  = "ignored"
)

// Determinism is the seed and clock for scripts while the page loads.
type Determinism struct {
	Seed uint32 `json:"seed"`
	// EpochMs is the Unix time at which a load starts.
	EpochMs float64 `json:"epochMs"`
}

// Resource is the answer to one request.
type Resource struct {
	Origin string `json:"origin"`
	// Method is empty for a resource that answers every method.
	Method string `json:"method,omitempty"`
	// RequestSHA256 distinguishes requests of one method and URL by their bodies, in hex.
	RequestSHA256 string `json:"requestSha256,omitempty"`
	// Path includes the query, as requested.
	Path    string            `json:"path"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    Body              `json:"body"`
	// ThinkMs is the time between the request and the first byte of the answer.
	ThinkMs float64 `json:"thinkMs"`
}

// Body is a file beside site.json, or filler that the server makes.
type Body struct {
	File   *string `json:"file,omitempty"`
	Filler string  `json:"filler,omitempty"`
	Bytes  int     `json:"bytes,omitempty"`
	Width  int     `json:"width,omitempty"`
	Height int     `json:"height,omitempty"`
}

// Or fills absent settings from defaults.
func (s Settings) Or(defaults Settings) Settings {
	return Settings{
		CongestionControl: cmp.Or(s.CongestionControl, defaults.CongestionControl),
		InitialWindow:     cmp.Or(s.InitialWindow, defaults.InitialWindow),
		PacingMbps:        cmp.Or(s.PacingMbps, defaults.PacingMbps),
		StartRate:         s.StartRate || defaults.StartRate,
		Priorities:        cmp.Or(s.Priorities, defaults.Priorities),
	}
}

// Check validates the settings; absent ones are valid.
func (s Settings) Check() error {
	if s.CongestionControl != "" && !slices.Contains(congestionControls, s.CongestionControl) {
		return fmt.Errorf(".congestionControl: expected cubic, reno or bbr, got %q", clip(s.CongestionControl))
	}
	if s.InitialWindow < 0 || s.InitialWindow > maxInitialWindow {
		return fmt.Errorf(".initialWindow: expected 1 to %d, got %d", maxInitialWindow, s.InitialWindow)
	}
	if !(s.PacingMbps >= 0 && s.PacingMbps <= maxPacingMbps) {
		return fmt.Errorf(".pacingMbps: expected a rate of at most %d, got %v", maxPacingMbps, s.PacingMbps)
	}
	if s.Priorities != "" && s.Priorities != PrioritiesHonoured && s.Priorities != PrioritiesIgnored {
		return fmt.Errorf(".priorities: expected honoured or ignored, got %q", clip(s.Priorities))
	}
	return nil
}

// With returns the origin with the members of change, a JSON object of the same form.
func (o Origin) With(change []byte) (Origin, error) {
	changed := o
	// JSON decoding would write a list into the old one's memory.
	changed.Protocols = slices.Clone(o.Protocols)
	decoder := json.NewDecoder(bytes.NewReader(change))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&changed); err != nil {
		return o, fmt.Errorf(": %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if changed.Origin != o.Origin {
		return o, errors.New(".origin: cannot change")
	}
	return changed, checkOrigin(changed, nil)
}

// Host is the origin's name without the scheme.
func (o Origin) Host() string { return strings.TrimPrefix(o.Origin, "https://") }

// Limits that prevent a hostile or broken site from exhausting memory.
const (
	maxSiteBytes = 64 << 20
	maxBodyBytes = 256 << 20
	// maxSidePixels is the largest width or height of a filler image.
	maxSidePixels = 16_384
	// maxPixels bounds all filler images of a site together, which take time to make.
	maxPixels  = 1 << 32
	maxOrigins = 500
	// maxInitialWindow is in segments.
	maxInitialWindow = 1000
	// maxPacingMbps is below the 2^32 - 1 bytes a second that stand for no limit (SO_MAX_PACING_RATE, socket(7)).
	maxPacingMbps = 10_000
)

var (
	originForm = regexp.MustCompile(`^https://[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	fileForm   = regexp.MustCompile(`^[\w./-]+$`)
	headerForm = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	methodForm = regexp.MustCompile(`^[A-Z]{1,20}$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	protocols  = []string{"h1", "h2", "h3"}

	congestionControls = []string{"cubic", "reno", "bbr"}
	// Absent is 1.3.
	tlsVersions = []string{"", "1.2", "1.3"}
)

// Open reads dir/site.json and checks it whole; an error is one line that names the entry. Close
// the site after its bodies have been read.
func Open(dir string) (*Site, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("site %s: cannot be opened: %w", dir, reason(err))
	}
	site, err := read(root)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("%s/site.json: %w", strings.TrimRight(dir, "/"), err)
	}
	site.root = root
	return site, nil
}

// Close releases the site's folder.
func (s *Site) Close() error { return s.root.Close() }

// ReadBody reads a body's file. It cannot leave the site's folder, not even by a symbolic link.
func (s *Site) ReadBody(name string) ([]byte, error) { return readLimited(s.root, name, maxBodyBytes) }

func read(root *os.Root) (*Site, error) {
	text, err := readLimited(root, "site.json", maxSiteBytes)
	if err != nil {
		return nil, err
	}
	site := &Site{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(site); err != nil {
		return nil, decodeError(err, text, decoder.InputOffset())
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("line %d: expected the end of the file after the site", lineAt(text, decoder.InputOffset()))
	}
	return site, site.check(root)
}

func readLimited(root *os.Root, name string, limit int64) ([]byte, error) {
	// Opening a named pipe would otherwise wait for a writer.
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("expected a regular file")
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, reason(err)
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("expected at most %d bytes", limit)
	}
	return content, nil
}

// reason drops the operation and the path, which the caller names itself.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func decodeError(err error, text []byte, offset int64) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("line %d: %s: expected a %s, got a %s", lineAt(text, wrong.Offset), wrong.Field, jsonKind(wrong.Type.Kind().String()), wrong.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", lineAt(text, syntax.Offset), err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("line %d: the file ends in the middle", lineAt(text, int64(len(text))))
	}
	return fmt.Errorf("line %d: %s", lineAt(text, offset), strings.TrimPrefix(err.Error(), "json: "))
}

func jsonKind(goKind string) string {
	switch goKind {
	case "slice", "array":
		return "list"
	case "struct", "map", "ptr":
		return "object"
	case "int", "float64":
		return "number"
	}
	return goKind
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}

func (s *Site) check(root *os.Root) error {
	if s.Format != "hopwise-site" {
		return fmt.Errorf("format: expected \"hopwise-site\", got %q", s.Format)
	}
	if s.Version != 1 {
		return fmt.Errorf("version: expected 1, got %d", s.Version)
	}
	if len(s.Origins) == 0 || len(s.Origins) > maxOrigins {
		return fmt.Errorf("origins: expected 1 to %d, got %d", maxOrigins, len(s.Origins))
	}
	known := map[string]bool{}
	for i, origin := range s.Origins {
		if err := checkOrigin(origin, known); err != nil {
			return fmt.Errorf("origins[%d]%w", i, err)
		}
		known[origin.Origin] = true
	}
	if !slices.ContainsFunc(s.Origins, func(o Origin) bool {
		return s.Entry == o.Origin || strings.HasPrefix(s.Entry, o.Origin+"/")
	}) {
		return fmt.Errorf("entry: expected a URL on one of the origins, got %q", s.Entry)
	}
	seen := map[string]int{}
	pixels := int64(0)
	for i, resource := range s.Resources {
		if err := checkResource(root, resource, known); err != nil {
			return fmt.Errorf("resources[%d]%w", i, err)
		}
		if pixels += int64(resource.Body.Width) * int64(resource.Body.Height); pixels > maxPixels {
			return fmt.Errorf("resources[%d].body: expected at most %d pixels of filler in all", i, int64(maxPixels))
		}
		key := strings.Join([]string{resource.Method, resource.Origin + resource.Path, resource.RequestSHA256}, " ")
		if first, twice := seen[key]; twice {
			return fmt.Errorf("resources[%d]: %s%s is resources[%d] already", i, resource.Origin, clip(resource.Path), first)
		}
		seen[key] = i
	}
	return nil
}

func checkOrigin(origin Origin, known map[string]bool) error {
	if !originForm.MatchString(origin.Origin) || len(origin.Host()) > 253 {
		return fmt.Errorf(".origin: expected https://host without port or path, got %q", clip(origin.Origin))
	}
	if known[origin.Origin] {
		return fmt.Errorf(".origin: %s appears twice", origin.Origin)
	}
	if len(origin.Protocols) == 0 {
		return errors.New(".protocols: expected at least one of h1, h2, h3")
	}
	for j, protocol := range origin.Protocols {
		if !slices.Contains(protocols, protocol) {
			return fmt.Errorf(".protocols[%d]: expected h1, h2 or h3, got %q", j, clip(protocol))
		}
	}
	if !(origin.ExtraRTTMs >= 0 && origin.ExtraRTTMs <= 60_000) {
		return fmt.Errorf(".extraRttMs: expected 0 to 60000, got %v", origin.ExtraRTTMs)
	}
	if !(origin.UDPMbps == 0 || origin.UDPMbps >= 0.001 && origin.UDPMbps <= 10_000) {
		return fmt.Errorf(".udpMbps: expected 0.001 to 10000, got %v", origin.UDPMbps)
	}
	if !(origin.ThinkMs >= 0 && origin.ThinkMs <= 600_000) {
		return fmt.Errorf(".thinkMs: expected 0 to 600000, got %v", origin.ThinkMs)
	}
	if !slices.Contains(tlsVersions, origin.TLSVersion) {
		return fmt.Errorf(".tlsVersion: expected 1.2 or 1.3, got %q", clip(origin.TLSVersion))
	}
	return origin.Settings.Check()
}

func checkResource(root *os.Root, resource Resource, known map[string]bool) error {
	if !known[resource.Origin] {
		return fmt.Errorf(".origin: expected one of the site's origins, got %q", clip(resource.Origin))
	}
	if !strings.HasPrefix(resource.Path, "/") {
		return fmt.Errorf(".path: expected a path that begins with /, got %q", clip(resource.Path))
	}
	if resource.Method != "" && !methodForm.MatchString(resource.Method) {
		return fmt.Errorf(".method: expected a method in capitals, got %q", clip(resource.Method))
	}
	if resource.RequestSHA256 != "" && !digestForm.MatchString(resource.RequestSHA256) {
		return fmt.Errorf(".requestSha256: expected 64 hex digits, got %q", clip(resource.RequestSHA256))
	}
	if resource.Status < 200 || resource.Status > 599 {
		return fmt.Errorf(".status: expected 200 to 599, got %d", resource.Status)
	}
	if !(resource.ThinkMs >= 0 && resource.ThinkMs <= 600_000) {
		return fmt.Errorf(".thinkMs: expected 0 to 600000, got %v", resource.ThinkMs)
	}
	for name, value := range resource.Headers {
		if !headerForm.MatchString(name) {
			return fmt.Errorf(".headers: %q is not a header name", clip(name))
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf(".headers[%q]: expected one line", name)
		}
	}
	return checkBody(root, resource.Body)
}

func checkBody(root *os.Root, body Body) error {
	if body.File != nil {
		if body.Filler != "" {
			return errors.New(".body: expected file or filler, got both")
		}
		if !fileForm.MatchString(*body.File) {
			return fmt.Errorf(".body.file: expected a path beside site.json of letters, digits and . _ - /, got %q", clip(*body.File))
		}
		info, err := root.Stat(*body.File)
		if err != nil {
			return fmt.Errorf(".body.file: %s: %w", *body.File, reason(err))
		}
		if !info.Mode().IsRegular() || info.Size() > maxBodyBytes {
			return fmt.Errorf(".body.file: %s: expected a regular file of at most %d bytes", *body.File, maxBodyBytes)
		}
		return nil
	}
	if body.Filler != "png" && body.Filler != "bytes" {
		return fmt.Errorf(".body: expected {file} or {filler: png or bytes}, got filler %q", clip(body.Filler))
	}
	if body.Bytes < 0 || body.Bytes > maxBodyBytes {
		return fmt.Errorf(".body.bytes: expected 0 to %d, got %d", maxBodyBytes, body.Bytes)
	}
	if body.Width < 0 || body.Height < 0 || body.Width > maxSidePixels || body.Height > maxSidePixels {
		return fmt.Errorf(".body: expected a width and a height of 1 to %d, got %d and %d", maxSidePixels, body.Width, body.Height)
	}
	return nil
}

func clip(text string) string {
	if len(text) > 80 {
		return text[:77] + "..."
	}
	return text
}
