package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hopwise/lab/certs"
	"hopwise/lab/link"
	"hopwise/lab/netns"
	"hopwise/lab/serve"
	"hopwise/lab/site"
)

// addressPlan has the addresses of a lab.
type addressPlan struct {
	client  netip.Addr
	client6 netip.Addr
	// servers and servers6 hold the client's address too.
	servers  netip.Prefix
	servers6 netip.Prefix
}

var (
	// benchmarkAddresses are from the ranges for benchmarking (RFC 2544 by RFC 6890, RFC 5180), which are not routed.
	benchmarkAddresses = newAddressPlan("198.18.0.0/15", "2001:2::/48")
	// publicAddresses are like those of servers on the internet, for programs that treat these differently. The lab's namespaces
	// have no device that leads there.
	publicAddresses = newAddressPlan("198.16.0.0/15", "2600:2::/48")

	anywhere6 = netip.MustParsePrefix("::/0")
)

func newAddressPlan(v4, v6 string) addressPlan {
	plan := addressPlan{servers: netip.MustParsePrefix(v4), servers6: netip.MustParsePrefix(v6)}
	plan.client = plan.servers.Addr().Next().Next()
	plan.client6 = plan.servers6.Addr().Next().Next()
	return plan
}

// server returns the addresses of the origin with this index, from 0.
func (p addressPlan) server(index int) (netip.Addr, netip.Addr) {
	v4, v6 := p.servers.Addr().As4(), p.servers6.Addr().As16()
	v4[1], v4[2], v4[3] = v4[1]+1, byte(1+index/250), byte(1+index%250)
	v6[13], v6[14], v6[15] = 1, byte((index+1)>>8), byte(index+1)
	return netip.AddrFrom4(v4), netip.AddrFrom16(v6)
}

// endpoint is one origin of the lab.
type endpoint struct {
	// Empty where the served site lacks the origin.
	site.Origin
	Address  netip.Addr `json:"address"`
	Address6 netip.Addr `json:"address6"`
}

func (e endpoint) addresses() []netip.Addr { return []netip.Addr{e.Address, e.Address6} }

// lab holds all running parts.
type lab struct {
	dir       string
	dirIsOwn  bool
	addresses addressPlan
	authority *certs.Authority
	defaults  site.Settings
	// fronts is nil for the Go servers.
	fronts    *serve.Programs
	stacks    serve.Stacks
	endpoints []endpoint
	client    *netns.Namespace
	servers   *netns.Namespace
	server    *process
	holder    *process
	nsenter   string
	pump      *link.Pump
	schedule  string
}

// Files of the scratch folder besides those that the holder mounts.
const caFile = "ca.pem"

// frontsDir is the folder of nginx and quiche in the scratch folder. Its name is short, as it has Unix sockets (unix(7)).
const frontsDir = "fronts"

// newLab starts all parts, or none.
func newLab(settings config) (l *lab, err error) {
	l = &lab{defaults: settings.Server, fronts: settings.Fronts, addresses: benchmarkAddresses}
	if settings.PublicAddresses {
		l.addresses = publicAddresses
	}
	defer func() {
		if err != nil {
			l.down()
		}
	}()
	source, err := site.Open(settings.Site)
	if err != nil {
		return l, inputError{err}
	}
	if err := source.Close(); err != nil {
		return l, err
	}
	if l.nsenter, err = findNsenter(); err != nil {
		return l, err
	}
	if err := netns.CheckTUN(); err != nil {
		return l, err
	}
	if err := l.makeDir(settings.Dir); err != nil {
		return l, err
	}
	if err := l.certify(source); err != nil {
		return l, err
	}
	if err := l.writeFiles(settings.IPVersion); err != nil {
		return l, err
	}
	if err := l.connect(settings); err != nil {
		return l, err
	}
	if err := l.startChildren(settings); err != nil {
		return l, err
	}
	l.pump, err = link.NewPump(l.client.TUN, l.servers.TUN, settings.network, l.peers())
	if err != nil {
		return l, err
	}
	// This comes last, as children inherit the scheduling.
	if l.schedule, err = becomeRealTime(); err != nil {
		return l, err
	}
	l.pump.Start(prepareThread)
	return l, nil
}

func findNsenter() (string, error) {
	path, err := exec.LookPath("nsenter")
	if err != nil {
		return "", errors.New("nsenter is not installed: it is in the package util-linux")
	}
	return path, nil
}

func (l *lab) makeDir(dir string) (err error) {
	if dir == "" {
		l.dir, err = os.MkdirTemp("", "hopwise-lab-")
		l.dirIsOwn = err == nil
		return err
	}
	l.dir = dir
	return os.MkdirAll(dir, 0o700)
}

func (l *lab) certify(source *site.Site) (err error) {
	var hosts []string
	for i, origin := range source.Origins {
		hosts = append(hosts, origin.Host())
		address, address6 := l.addresses.server(i)
		origin.Settings = origin.Settings.Or(l.defaults)
		l.endpoints = append(l.endpoints, endpoint{origin, address, address6})
	}
	l.authority, err = certs.NewAuthority(hosts, time.Now())
	return err
}

func (l *lab) writeFiles(ipVersion int) error {
	var hosts strings.Builder
	hosts.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, e := range l.endpoints {
		address := e.Address
		if ipVersion == 6 {
			address = e.Address6
		}
		fmt.Fprintf(&hosts, "%s %s\n", address, e.Host())
	}
	for name, content := range map[string]string{
		caFile:          string(l.authority.PEM),
		"hosts":         hosts.String(),
		"resolv.conf":   "options timeout:1 attempts:1\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n",
	} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// connect makes the namespaces with their devices, addresses and routes.
func (l *lab) connect(settings config) (err error) {
	if l.client, err = netns.New(); err != nil {
		return fmt.Errorf("%w%s", err, netns.RestrictedHint())
	}
	if l.servers, err = netns.New(); err != nil {
		return err
	}
	var addresses []netip.Addr
	for _, e := range l.endpoints {
		addresses = append(addresses, e.addresses()...)
	}
	err = errors.Join(
		l.client.CheckClosed(),
		l.servers.CheckClosed(),
		l.client.AddAddresses(l.addresses.client, l.addresses.client6),
		l.client.AddRoute(l.addresses.servers, l.addresses.client, 0),
		l.client.AddRoute(l.addresses.servers6, l.addresses.client6, 0),
		l.servers.AddAddresses(addresses...),
	)
	for i, e := range l.endpoints {
		err = errors.Join(err, l.routeToClient(i, e.Settings))
	}
	if settings.IPVersion == 6 {
		// Chromium looks up IPv6 addresses only where a default route exists.
		err = errors.Join(err, l.client.AddRoute(anywhere6, l.addresses.client6, 0))
	}
	if err != nil {
		return err
	}
	// Loads must not pass on knowledge of the link (ssthresh, RTT) to later ones, on either side.
	for _, namespace := range []*netns.Namespace{l.client, l.servers} {
		err = errors.Join(err, namespace.Do(func() error {
			return netns.SetSetting("net/ipv4/tcp_no_metrics_save", "1")
		}))
	}
	if settings.ReceiveBuffer > 0 {
		err = errors.Join(err, l.client.Do(func() error {
			sizes := fmt.Sprintf("4096 %d %d", settings.ReceiveBuffer, maxReceiveBuffer)
			return netns.SetSetting("net/ipv4/tcp_rmem", sizes)
		}))
	}
	return err
}

// routeToClient sets the initial window of a server's TCP and, where the server cannot set it itself, its congestion control.
func (l *lab) routeToClient(index int, settings site.Settings) error {
	tcp := netns.TCPSettings{InitialWindow: settings.InitialWindow}
	if tcp.InitialWindow == serve.TCPInitialWindow {
		// The kernel's default needs no route.
		tcp.InitialWindow = 0
	}
	if l.fronts != nil {
		tcp.CongestionControl = settings.CongestionControl
	}
	e := l.endpoints[index]
	return errors.Join(
		l.servers.AddRouteFrom(e.Address, netip.PrefixFrom(l.addresses.client, 32), index, tcp),
		l.servers.AddRouteFrom(e.Address6, netip.PrefixFrom(l.addresses.client6, 128), index, tcp),
	)
}

func (l *lab) startChildren(settings config) (err error) {
	server := serve.Config{Defaults: l.defaults, Upstreams: settings.Upstreams}
	if l.fronts != nil {
		server.Fronts = &serve.FrontsConfig{Programs: *l.fronts, Dir: filepath.Join(l.dir, frontsDir)}
		if err := os.Mkdir(server.Fronts.Dir, 0o700); err != nil {
			return err
		}
	}
	now := time.Now()
	for _, e := range l.endpoints {
		pair, err := l.authority.Issue(e.Host(), now)
		if err != nil {
			return err
		}
		server.Endpoints = append(server.Endpoints, serve.Endpoint{
			Origin: e.Origin.Origin, Addresses: []string{e.Address.String(), e.Address6.String()}, Pair: pair,
		})
	}
	if l.server, err = startServer(l.servers, server, settings.AheadOfOthers); err != nil {
		return err
	}
	reply, err := ask(l.server, serve.Request{Site: settings.Site})
	if err != nil {
		return err
	}
	l.stacks = *reply.Stacks
	l.holder, err = startHolder(l.client, l.dir)
	return err
}

func (l *lab) peers() map[netip.Addr]link.Peer {
	peers := map[netip.Addr]link.Peer{}
	for _, e := range l.endpoints {
		peer := link.Peer{ExtraRTTMs: e.ExtraRTTMs, UDPMbps: e.UDPMbps}
		peers[e.Address], peers[e.Address6] = peer, peer
	}
	return peers
}

// enter is the command prefix that runs a program in the client's namespaces.
func (l *lab) enter() []string {
	command := []string{l.nsenter, "-t", fmt.Sprint(l.holder.pid())}
	if netns.IsRootless() {
		command = append(command, "-U", "--preserve-credentials")
	}
	return append(command, "-n", "-m", "--")
}

// down stops all parts, even those of a partly started lab.
func (l *lab) down() {
	l.holder.stop()
	l.server.stop()
	if l.pump != nil && l.schedule != "" {
		l.pump.Stop()
	}
	for _, namespace := range []*netns.Namespace{l.client, l.servers} {
		if namespace != nil {
			namespace.Close()
		}
	}
	if l.dirIsOwn {
		if err := os.RemoveAll(l.dir); err != nil {
			fmt.Fprintln(os.Stderr, "hopwise-lab:", err)
		}
		return
	}
	if l.dir == "" {
		return
	}
	for _, name := range []string{caFile, "hosts", "resolv.conf", "nsswitch.conf", frontsDir} {
		if err := os.RemoveAll(filepath.Join(l.dir, name)); err != nil {
			fmt.Fprintln(os.Stderr, "hopwise-lab:", err)
		}
	}
}
