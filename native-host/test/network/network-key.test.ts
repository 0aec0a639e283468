import { expect, test } from 'vitest';
import { identifyNetwork } from '../../src/network/network-key.ts';

const ROUTES_HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT';
const ARP_HEAD = 'IP address       HW type     Flags       HW address            Mask     Device';

/** 192.168.1.1 through wlan0. */
const HOME_ROUTE = 'wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0';
const HOME_ROUTER = '192.168.1.1      0x1         0x2         02:00:00:00:00:01     *        wlan0';

interface Lines {
  routes?: string[];
  neighbours?: string[];
  routes6?: string[];
  peerLinks?: string[];
}

function identify(
  { routes = [], neighbours = [], routes6 = [], peerLinks = [] }: Lines,
  secret = 'a',
): string | null {
  const tables = {
    routes: [ROUTES_HEAD, ...routes, ''].join('\n'),
    neighbours: [ARP_HEAD, ...neighbours, ''].join('\n'),
    routes6: [...routes6, ''].join('\n'),
    peerLinks,
  };
  return identifyNetwork(tables, () => Buffer.from(secret));
}

const home = identify({ routes: [HOME_ROUTE], neighbours: [HOME_ROUTER] });

test('the same network has the same key, which depends on the secret', () => {
  expect(home).toMatch(/^[\w-]{22}$/);
  const again = {
    routes: [
      'wlan0\t0001A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0',
      'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
      HOME_ROUTE,
    ],
    neighbours: [
      '192.168.1.7      0x1         0x2         02:00:00:00:00:07     *        wlan0',
      HOME_ROUTER,
    ],
  };
  expect(identify(again)).toBe(home);
  expect(identify(again, 'b')).not.toBe(home);
});

test.each<[string, Lines]>([
  ['another router with the same address', { neighbours: [HOME_ROUTER.replace('00:01 ', '00:02 ')] }],
  [
    'another prefix',
    {
      routes: [HOME_ROUTE.replace('0101A8C0', '0102A8C0')],
      neighbours: [HOME_ROUTER.replace('192.168.1.1', '192.168.2.1')],
    },
  ],
  [
    'another interface',
    {
      routes: [HOME_ROUTE.replace('wlan0', 'eth0')],
      neighbours: [HOME_ROUTER.replace('wlan0', 'eth0')],
    },
  ],
])('%s is another network', (_, changed) => {
  const other = identify({ routes: [HOME_ROUTE], neighbours: [HOME_ROUTER], ...changed });
  expect(other).toMatch(/^[\w-]{22}$/);
  expect(other).not.toBe(home);
});

test('the route with the lowest metric counts, whatever its place', () => {
  const cable = 'eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0';
  const cableRouter = '192.168.2.1      0x1         0x2         02:00:00:00:00:09     *        eth0';
  const alone = identify({ routes: [cable], neighbours: [cableRouter] });
  expect(identify({ routes: [HOME_ROUTE, cable], neighbours: [HOME_ROUTER, cableRouter] })).toBe(alone);
});

test.each<[string, Lines]>([
  ['without a default route', { routes: [] }],
  ['while its interface is down', { routes: [HOME_ROUTE.replace('0003', '0002')] }],
  ['while its router has not answered', { neighbours: [HOME_ROUTER.replace('0x2 ', '0x0 ')] }],
  ['before its router was asked', { neighbours: [] }],
  ['where a route refuses all packets', { routes: [HOME_ROUTE.replace('0003', '0203')] }],
])('a network is not recognised %s', (_, changed) => {
  expect(identify({ routes: [HOME_ROUTE], neighbours: [HOME_ROUTER], ...changed })).toBeNull();
});

test('links to a single peer need no hardware address', () => {
  const modem = identify({ routes: ['ppp0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0'] });
  const tunnel = identify({ routes: [HOME_ROUTE.replace('wlan0', 'tun0')], peerLinks: ['tun0'] });
  expect(new Set([modem, tunnel, home]).size).toBe(3);
  expect([modem, tunnel]).not.toContain(null);
});

const route6 = (gateway: string, flags: string, name: string): string =>
  `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${gateway} 00000400 00000003 00000000 ${flags} ${name}`;

test('without IPv4 the IPv6 router counts: its own link-local address, or its /48', () => {
  const unreachable = route6('0'.repeat(32), '00200200', 'lo');
  const linkLocal = 'fe80000000000000000000fffe000001';
  const one = identify({ routes6: [unreachable, route6(linkLocal, '00000003', 'wlan0')] });
  const other = identify({ routes6: [route6(linkLocal.replace(/1$/, '2'), '00000003', 'wlan0')] });
  const wide = identify({ routes6: [route6('20010db8000100000000000000000001', '00000003', 'wlan0')] });
  const sameWide = identify({ routes6: [route6('20010db8000100ff0000000000000002', '00000003', 'wlan0')] });
  expect(identify({ routes6: [unreachable] })).toBeNull();
  expect(new Set([one, other, wide, null]).size).toBe(4);
  expect(sameWide).toBe(wide);
});

test('what the kernel does not write is not taken for a network', () => {
  for (const line of ['', 'wlan0', 'wlan0\t00000000', '\t\t\t\t\t\t\t', `${'x'.repeat(5000)}`])
    expect(identify({ routes: [line], routes6: [line], neighbours: [line] })).toBeNull();
});
