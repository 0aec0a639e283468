import { expect, it } from 'vitest';
import { type Prefix, parsePrefix } from '../../src/clusters/address.ts';
import { MainTable } from '../../src/routes/main-table.ts';

const prefix = (text: string): Prefix => parsePrefix(text, 4)!;
const tableOf = (...routes: object[]) => new MainTable({ 4: JSON.stringify(routes), 6: '' });

const DEFAULT = {
  dst: 'default',
  gateway: '192.0.2.1',
  dev: 'eth0',
  protocol: 'dhcp',
  metric: 100,
  flags: [],
};
const ON_LINK = { dst: '192.0.2.0/24', dev: 'eth0', scope: 'link', prefsrc: '192.0.2.9', flags: [] };

it('copies the route to a prefix', () => {
  const table = tableOf(DEFAULT, ON_LINK);
  expect(table.withWindow(prefix('203.0.113.0/24'), 20)).toBe(
    '203.0.113.0/24 via 192.0.2.1 dev eth0 initcwnd 20',
  );
  expect(table.withWindow(prefix('192.0.2.0/24'), 20)).toBe(
    '192.0.2.0/24 dev eth0 scope link src 192.0.2.9 initcwnd 20',
  );
  const settings = [{ mtu: 1400, congestion: 'bbr' }];
  expect(tableOf({ ...DEFAULT, metrics: settings }).withWindow(prefix('203.0.113.0/24'), 20)).toBe(
    '203.0.113.0/24 via 192.0.2.1 dev eth0 mtu 1400 congctl bbr initcwnd 20',
  );
});

it('takes the route that the kernel prefers', () => {
  const worse = { ...DEFAULT, gateway: '192.0.2.2', metric: 200 };
  expect(tableOf(worse, DEFAULT).withWindow(prefix('203.0.113.0/24'), 20)).toContain('via 192.0.2.1');
});

it('leaves alone what a copy would change', () => {
  const wide = prefix('192.0.0.0/16');
  // Addresses within the wide prefix are on the link.
  expect(tableOf(DEFAULT, ON_LINK).withWindow(wide, 20)).toBeNull();
  for (const own of [
    { nexthops: [{ gateway: '192.0.2.1' }, { gateway: '192.0.2.2' }] },
    { type: 'blackhole' },
    { metrics: [{ initcwnd: 50 }] },
    { metrics: [{ features: 'ecn' }] },
    { encap: 'mpls' },
    { flags: ['dead'] },
    { dev: undefined },
  ])
    expect(tableOf({ ...DEFAULT, ...own }).withWindow(wide, 20), JSON.stringify(own)).toBeNull();
  expect(tableOf().withWindow(wide, 20)).toBeNull();
});
