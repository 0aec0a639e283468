import { expect, test } from 'vitest';
import { hindersUdp, leavesUdpOpen, listSuspectingSites, slowsH3 } from '../../src/evidence/known-udp.ts';
import { type NetworkMemory, NOTHING_KNOWN } from '../../src/storage/network.ts';
import { knownWithUdp as withUdp } from '../support/known-network.ts';

test('a network hinders UDP where it surely blocks it, or holds it to much less than the link’s rate', () => {
  expect(hindersUdp(withUdp({ blocked: 0.95, open: 0.05 }))).toBe(true);
  expect(hindersUdp(withUdp({ policed: 0.95, open: 0.05 }))).toBe(true);
  expect(hindersUdp(withUdp({ policed: 0.95, open: 0.05 }, 0.8))).toBe(false);
  expect(hindersUdp(withUdp({ policed: 0.7, open: 0.3 }))).toBe(false);
  expect(hindersUdp({ cluster: null })).toBe(false);
});

test('it slows HTTP/3 down where it lets UDP through slowly: blocked UDP is left to the browser', () => {
  const policed = withUdp({ policed: 0.95, open: 0.05 });
  const blocked = withUdp({ blocked: 0.95, open: 0.05 });
  expect([slowsH3(policed), slowsH3(withUdp({ policed: 0.95, open: 0.05 }, 0.8))]).toEqual([true, false]);
  expect([slowsH3(blocked), slowsH3(withUdp({ blocked: 0.6, policed: 0.38 }))]).toEqual([false, false]);
  expect(slowsH3({ ...blocked, check: { udp: { kind: 'policed', bps: 1e6 } } })).toBe(true);
  expect(slowsH3({ ...policed, check: { udp: { kind: 'blocked' } } })).toBe(false);
});

test('what a check has measured outweighs what loads have shown', () => {
  const open = withUdp({ open: 1 });
  expect(leavesUdpOpen(open)).toBe(true);
  const check = { udp: { kind: 'blocked' } } as const;
  expect(hindersUdp({ ...open, check })).toBe(true);
  expect(leavesUdpOpen({ ...open, check })).toBe(false);
  expect(leavesUdpOpen({ ...open, check: { udp: { kind: 'unblocked' } } })).toBe(true);
});

test('one site that shows UDP hindered has the network suspected, until another one shows it too, or the opposite', () => {
  const { cluster: hindered } = withUdp({ policed: 0.95, open: 0.05 });
  const { cluster: plain } = withUdp({ policed: 0.015, blocked: 0.044, open: 0.941 });
  const { cluster: open } = withUdp({ policed: 0.002, open: 0.998 });
  const { cluster: blocked } = withUdp({ blocked: 0.95, open: 0.05 });
  const listFrom = (sites: NetworkMemory['sites'], more: Partial<NetworkMemory> = {}) =>
    listSuspectingSites({ ...NOTHING_KNOWN, sites, ...more });
  expect(listFrom({})).toEqual([]);
  expect(listFrom({ 'a.test': plain })).toEqual([]);
  expect(listFrom({ 'a.test': blocked })).toEqual([]);
  expect(listFrom({ 'a.test': hindered, 'b.test': plain })).toEqual(['a.test']);
  expect(listFrom({ 'a.test': hindered, 'b.test': open })).toEqual([]);
  expect(listFrom({ 'a.test': hindered, 'b.test': open }, { unlike: ['b.test'] })).toEqual(['a.test']);
  expect(listFrom({ 'a.test': hindered, 'b.test': hindered })).toEqual([]);
  expect(listFrom({ 'a.test': hindered }, { check: open })).toEqual([]);
  expect(listFrom({ 'a.test': hindered }, { check: hindered })).toEqual([]);
});
