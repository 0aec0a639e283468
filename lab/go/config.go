package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hopwise/lab/link"
	"hopwise/lab/serve"
	"hopwise/lab/site"
)

// config is the file that `up` takes.
type config struct {
	// Site is a folder with site.json.
	Site    string          `json:"site"`
	Network json.RawMessage `json:"network"`
	// Dir is a scratch folder, created if missing. Without one the lab makes and removes its own.
	Dir string `json:"dir"`
	// Server has the defaults for origins: cubic, 10 segments (RFC 6928) and priorities honoured unless given.
	Server site.Settings `json:"server"`
	// Fronts make nginx and quiche the servers in front of the replay server; absent for the Go servers.
	Fronts *serve.Programs `json:"fronts"`
	// AheadOfOthers schedules the replay server ahead of the machine's other processes.
	AheadOfOthers bool `json:"aheadOfOthers"`
	// ReceiveBuffer is the size in bytes that receive buffers of the client's TCP begin with; 0 for the kernel's default. About
	// half of it is offered to the sender.
	ReceiveBuffer int `json:"receiveBuffer"`
	// IPVersion is the IP version that host names resolve to inside the lab: 4 (the default) or 6.
	IPVersion int `json:"ipVersion"`
	// PublicAddresses gives the servers addresses like those on the internet, which these programs do not take for local.
	PublicAddresses bool `json:"publicAddresses"`
	// Upstreams are servers outside the lab that answer for origins of the site, by origin. They are no part of a site, which may come
	// from anywhere.
	Upstreams map[string]serve.Upstream `json:"upstreams"`

	network link.Network
}

// maxReceiveBuffer is also the size up to which such buffers grow.
const maxReceiveBuffer = 64 << 20

func parseUp(args []string) (config, error) {
	return parseConfig("up", args, readConfig)
}

// parseConfig reads the file that --config, the only argument of a command, names.
func parseConfig[T any](command string, args []string, read func(path string) (T, error)) (settings T, err error) {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	path := flags.String("config", "", "")
	if err := flags.Parse(args); err != nil {
		return settings, inputError{fmt.Errorf("%s: %w", command, err)}
	}
	if *path == "" || flags.NArg() > 0 {
		return settings, inputError{fmt.Errorf("%s: expected --config FILE", command)}
	}
	if settings, err = read(*path); err != nil {
		return settings, inputError{fmt.Errorf("%s: %w", *path, err)}
	}
	return settings, nil
}

// decodeFile reads JSON without unknown fields into settings, which holds the defaults.
func decodeFile(path string, settings any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return errors.Unwrap(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(settings)
}

func readConfig(path string) (config, error) {
	settings := config{IPVersion: 4}
	if err := decodeFile(path, &settings); err != nil {
		return settings, err
	}
	if !filepath.IsAbs(settings.Site) {
		return settings, fmt.Errorf("site: expected an absolute folder, got %q", settings.Site)
	}
	if settings.Dir != "" && !filepath.IsAbs(settings.Dir) {
		return settings, fmt.Errorf("dir: expected an absolute folder, got %q", settings.Dir)
	}
	if settings.IPVersion != 4 && settings.IPVersion != 6 {
		return settings, fmt.Errorf("ipVersion: expected 4 or 6, got %d", settings.IPVersion)
	}
	if settings.ReceiveBuffer < 0 || settings.ReceiveBuffer > maxReceiveBuffer {
		return settings, fmt.Errorf("receiveBuffer: expected at most %d bytes, got %d", maxReceiveBuffer, settings.ReceiveBuffer)
	}
	if err := settings.Server.Check(); err != nil {
		return settings, fmt.Errorf("server%w", err)
	}
	settings.Server = settings.Server.Or(site.Settings{
		CongestionControl: "cubic", InitialWindow: serve.TCPInitialWindow, Priorities: site.PrioritiesHonoured,
	})
	if programs := settings.Fronts; programs != nil {
		for name, path := range map[string]string{
			"nginx": programs.Nginx, "nginxLibraries": programs.NginxLibraries, "quiche": programs.Quiche,
		} {
			if (path != "" || name == "nginx") && !filepath.IsAbs(path) {
				return settings, fmt.Errorf("fronts.%s: expected an absolute path, got %q", name, path)
			}
		}
	}
	for origin, upstream := range settings.Upstreams {
		if err := upstream.Check(); err != nil {
			return settings, fmt.Errorf("upstreams.%s%w", origin, err)
		}
	}
	if settings.Network == nil {
		return settings, errors.New("network: expected an object")
	}
	var err error
	settings.network, err = link.ParseNetwork(settings.Network)
	return settings, err
}
