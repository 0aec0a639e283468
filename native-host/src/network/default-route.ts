/** The machine's default route, from the kernel's tables as Linux shows them in `/proc/net` (proc(5)). */

/** Flags of a route (`linux/route.h`). */
const UP = 0x1;
const GATEWAY = 0x2;
const REJECT = 0x200;

export interface DefaultRoute {
  interface: string;
  /** Address of the router; null on links to a single peer, such as a modem or a tunnel. */
  gateway: string | null;
}

/**
 * The IPv4 default route with the lowest metric.
 *
 * @param table text of `/proc/net/route`
 */
export function findIpv4Route(table: string): DefaultRoute | null {
  return preferred(
    table
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [name = '', destination, gateway = '', flagText = '', , , metric = '', mask] =
          line.split(/\s+/);
        const flags = Number.parseInt(flagText, 16);
        const isDefault = destination === '00000000' && mask === '00000000';
        if (!isDefault || (flags & UP) === 0 || (flags & REJECT) !== 0) return [];
        const route = { interface: name, gateway: (flags & GATEWAY) === 0 ? null : ipv4Of(gateway) };
        return { route, metric: Number(metric) };
      }),
  );
}

/**
 * The IPv6 default route with the lowest metric.
 *
 * @param table text of `/proc/net/ipv6_route`
 */
export function findIpv6Route(table: string): DefaultRoute | null {
  return preferred(
    table.split('\n').flatMap((line) => {
      const [destination, length, , , gateway = '', metric = '', , , flagText = '', name = ''] =
        line.split(/\s+/);
      const flags = Number.parseInt(flagText, 16);
      const isDefault = /^0{32}$/.test(destination ?? '') && length === '00';
      if (!isDefault || (flags & UP) === 0 || (flags & REJECT) !== 0) return [];
      const route = { interface: name, gateway: (flags & GATEWAY) === 0 ? null : ipv6Of(gateway) };
      return { route, metric: Number.parseInt(metric, 16) };
    }),
  );
}

function preferred(routes: { route: DefaultRoute; metric: number }[]): DefaultRoute | null {
  return routes.toSorted((a, b) => a.metric - b.metric)[0]?.route ?? null;
}

/** @param hex in the processor's byte order, which is little-endian wherever the helper runs */
const ipv4Of = (hex: string): string => [...Buffer.from(hex, 'hex')].toReversed().join('.');

/** All eight groups with their leading zeros. */
const ipv6Of = (hex: string): string => hex.match(/.{4}/g)?.join(':') ?? '';
