// Package netns makes the lab's network namespaces. They have no names: descriptors and processes hold them, and the kernel
// removes them with the last holder.
package netns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// DeviceName is the name of the TUN device in both namespaces. Chromium treats a device whose name starts with "tun" as a
// tunnel and reports being offline when there is no other.
const DeviceName = "lab0"

// MTU of both devices.
const MTU = 1500

// transmitQueue is the devices' queue towards the pump. Only the link's own queue may drop packets, so this one is longer than
// any window.
const transmitQueue = 20_000

// Namespace is an anonymous network namespace with one TUN device.
type Namespace struct {
	handle netns.NsHandle
	// TUN is the device's non-blocking descriptor.
	TUN int
}

// New creates a namespace with loopback and the TUN device up.
func New() (namespace *Namespace, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	if err != nil {
		return nil, fmt.Errorf("network namespace: %w", err)
	}
	defer home.Close()
	handle, err := netns.New()
	if err != nil {
		return nil, fmt.Errorf("network namespace: cannot make one: %w%s", err, rightsHint(err))
	}
	// A thread that cannot return to its namespace must not be used again.
	defer func() {
		if back := netns.Set(home); back != nil {
			panic(fmt.Sprintf("network namespace: cannot leave it: %v", back))
		}
	}()
	namespace = &Namespace{handle: handle, TUN: -1}
	defer func() {
		if err != nil {
			namespace.Close()
		}
	}()
	if namespace.TUN, err = openTUN(); err != nil {
		return namespace, err
	}
	return namespace, namespace.bringUp()
}

func openTUN() (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("/dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(DeviceName)
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	// One whole IP packet for each read: no packet header, no segmentation offload.
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("/dev/net/tun: cannot make a device: %w%s", err, rightsHint(err))
	}
	return fd, nil
}

func (n *Namespace) bringUp() error {
	// Set before the devices come up, so that no router is solicited.
	for _, setting := range []string{"accept_ra", "router_solicitations"} {
		for _, scope := range []string{"default", DeviceName} {
			err := SetSetting("net/ipv6/conf/"+scope+"/"+setting, "0")
			if err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("network namespace: %w", err)
			}
		}
	}
	return n.with(func(handle *netlink.Handle) error {
		for _, name := range []string{"lo", DeviceName} {
			device, err := handle.LinkByName(name)
			if err != nil {
				return fmt.Errorf("network device %s: %w", name, err)
			}
			if name == DeviceName {
				if err := handle.LinkSetMTU(device, MTU); err != nil {
					return fmt.Errorf("network device %s: MTU: %w", name, err)
				}
				if err := handle.LinkSetTxQLen(device, transmitQueue); err != nil {
					return fmt.Errorf("network device %s: queue: %w", name, err)
				}
			}
			if err := handle.LinkSetUp(device); err != nil {
				return fmt.Errorf("network device %s: %w", name, err)
			}
		}
		return nil
	})
}

func (n *Namespace) with(act func(*netlink.Handle) error) error {
	handle, err := netlink.NewHandleAt(n.handle, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer handle.Close()
	return act(handle)
}

// AddAddresses gives the TUN device addresses.
func (n *Namespace) AddAddresses(addresses ...netip.Addr) error {
	return n.with(func(handle *netlink.Handle) error {
		device, err := handle.LinkByName(DeviceName)
		if err != nil {
			return err
		}
		for _, address := range addresses {
			entry := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(address, address.BitLen()))}
			if address.Is6() {
				// Duplicate address detection is off, as the link has no other hosts and a tentative address cannot be bound.
				entry.Flags = unix.IFA_F_NODAD
			}
			if err := handle.AddrAdd(device, entry); err != nil {
				return fmt.Errorf("network device %s: address %s: %w", DeviceName, address, err)
			}
		}
		return nil
	})
}

// CheckClosed fails where a device leads out of the namespace: it may have the loopback device and its TUN device alone.
func (n *Namespace) CheckClosed() error {
	return n.with(func(handle *netlink.Handle) error {
		links, err := handle.LinkList()
		if err != nil {
			return err
		}
		for _, link := range links {
			attributes := link.Attrs()
			if attributes.Flags&net.FlagLoopback == 0 && attributes.Name != DeviceName && attributes.Flags&net.FlagUp != 0 {
				return fmt.Errorf("the lab's namespace has the device %s, which may lead outside", attributes.Name)
			}
		}
		return nil
	})
}

// AddRoute sends a prefix through the TUN device. initialWindow is the initial congestion window of
// TCP connections to it in segments, 0 for the kernel's own.
func (n *Namespace) AddRoute(prefix netip.Prefix, source netip.Addr, initialWindow int) error {
	return n.with(func(handle *netlink.Handle) error {
		return replaceRoute(handle, netlink.Route{Dst: ipNet(prefix), Src: source.AsSlice(), InitCwnd: initialWindow})
	})
}

// firstTable numbers the routing tables of AddRouteFrom, far from the kernel's own.
const firstTable = 1000

// TCPSettings are those of a route's TCP connections, as their sender.
type TCPSettings struct {
	// InitialWindow is the initial congestion window in segments, 0 for the kernel's own.
	InitialWindow int
	// CongestionControl is empty for the socket's own.
	CongestionControl string
}

// AddRouteFrom is AddRoute for packets from source. index numbers the sources from 0. An earlier route of the source is
// replaced.
func (n *Namespace) AddRouteFrom(source netip.Addr, prefix netip.Prefix, index int, tcp TCPSettings) error {
	return n.with(func(handle *netlink.Handle) error {
		rule := netlink.NewRule()
		rule.Src = ipNet(netip.PrefixFrom(source, source.BitLen()))
		rule.Table, rule.Priority = firstTable+index, firstTable+index
		rule.Family = unix.AF_INET
		if source.Is6() {
			rule.Family = unix.AF_INET6
		}
		if err := handle.RuleAdd(rule); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("rule for routes from %s: %w", source, err)
		}
		return replaceRoute(handle, netlink.Route{
			Dst: ipNet(prefix), Table: rule.Table, InitCwnd: tcp.InitialWindow, Congctl: tcp.CongestionControl,
		})
	})
}

// SetInitialWindow changes the window of a route of AddRouteFrom, in the namespace of the calling process.
func SetInitialWindow(client netip.Addr, index, window int) error {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer handle.Close()
	prefix := netip.PrefixFrom(client, client.BitLen())
	return replaceRoute(handle, netlink.Route{Dst: ipNet(prefix), Table: firstTable + index, InitCwnd: window})
}

func replaceRoute(handle *netlink.Handle, route netlink.Route) error {
	device, err := handle.LinkByName(DeviceName)
	if err != nil {
		return err
	}
	route.LinkIndex = device.Attrs().Index
	if route.Dst.IP.To4() != nil {
		route.Scope = netlink.SCOPE_LINK
	}
	if err := handle.RouteReplace(&route); err != nil {
		return fmt.Errorf("route to %s: %w", route.Dst, err)
	}
	return nil
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}

// Do runs act on a thread in the namespace; processes started by act are in it too.
func (n *Namespace) Do(act func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	defer home.Close()
	if err := netns.Set(n.handle); err != nil {
		return fmt.Errorf("network namespace: cannot enter it: %w", err)
	}
	defer func() {
		if back := netns.Set(home); back != nil {
			panic(fmt.Sprintf("network namespace: cannot leave it: %v", back))
		}
	}()
	return act()
}

// Close releases the device and the namespace.
func (n *Namespace) Close() {
	if n.TUN >= 0 {
		unix.Close(n.TUN)
		n.TUN = -1
	}
	if n.handle.IsOpen() {
		n.handle.Close()
	}
}
