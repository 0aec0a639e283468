import { expect, it } from 'vitest';
import { MainTable } from '../../src/routes/main-table.ts';

const tableOf = (...routes: string[]) => new MainTable({ 4: routes.join('\n'), 6: '' });

const DEFAULT = 'default via 192.0.2.1 dev eth0 proto dhcp metric 100 ';
const ON_LINK = '192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.9 ';

it('copies the route to a prefix', () => {
  const table = tableOf(DEFAULT, ON_LINK, '');
  expect(table.withWindow('203.0.113.0/24', 20)).toBe('203.0.113.0/24 via 192.0.2.1 dev eth0 initcwnd 20');
  expect(table.withWindow('192.0.2.0/24', 20)).toBe(
    '192.0.2.0/24 dev eth0 scope link src 192.0.2.9 initcwnd 20',
  );
  expect(tableOf(`${DEFAULT}onlink mtu 1400 congctl bbr `).withWindow('203.0.113.0/24', 20)).toBe(
    '203.0.113.0/24 via 192.0.2.1 dev eth0 onlink mtu 1400 congctl bbr initcwnd 20',
  );
});

it('copies routes of IPv6 to its prefixes', () => {
  const table = new MainTable({
    4: DEFAULT,
    6: '2001:db8::/64 dev eth0 proto kernel metric 256 pref medium\ndefault via fe80::1 dev eth0 proto ra metric 1024 expires 1795sec pref medium',
  });
  expect(table.withWindow('2001:db8:17::/48', 20)).toBe('2001:db8:17::/48 via fe80::1 dev eth0 initcwnd 20');
  expect(table.withWindow('2001:db8::/32', 20)).toBeNull();
});

it('takes the route that the kernel prefers', () => {
  const worse = 'default via 192.0.2.2 dev eth0 metric 200';
  expect(tableOf(worse, DEFAULT).withWindow('203.0.113.0/24', 20)).toContain('via 192.0.2.1');
  expect(tableOf(DEFAULT, 'default via 192.0.2.3 dev eth1').withWindow('203.0.113.0/24', 20)).toContain(
    'via 192.0.2.3',
  );
});

it('leaves alone what a copy would change', () => {
  const wide = '192.0.0.0/16';
  // Addresses within the wide prefix are on the link.
  expect(tableOf(DEFAULT, ON_LINK).withWindow(wide, 20)).toBeNull();
  for (const own of [
    'default proto static \\\tnexthop via 192.0.2.1 dev eth0 weight 1 \\\tnexthop via 192.0.2.2 dev eth0 weight 1',
    'blackhole default',
    'unreachable 192.0.0.0/8 metric 5',
    `${DEFAULT}initcwnd 50`,
    `${DEFAULT}features ecn`,
    `${DEFAULT}mtu lock 1400`,
    'default  encap mpls  100 via 192.0.2.1 dev eth0',
    'default via inet6 fe80::1 dev eth0',
    `${DEFAULT}dead`,
    `${DEFAULT}linkdown`,
  ])
    expect(tableOf(own).withWindow(wide, 20), own).toBeNull();
  expect(tableOf().withWindow(wide, 20)).toBeNull();
});
