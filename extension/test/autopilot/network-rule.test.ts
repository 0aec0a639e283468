import { learnNetwork, type NetworkCluster } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import {
  changeChoice,
  findChoice,
  hindersUdp,
  leavesUdpOpen,
  planByNetwork,
} from '../../src/autopilot/network-rule.ts';
import { loadOf, requestOf } from '../evidence/stored-loads.ts';

const known = learnNetwork(null, loadOf(1).recording);
const withUdp = (udp: Partial<NetworkCluster['udp']>, policedShare = 0.1) => ({
  cluster: {
    ...known,
    udp: { open: 0, policed: 0, blocked: 0, ...udp },
    policedBps: { ...known.policedBps, mean: known.downBps.mean + Math.log(policedShare) },
  },
});

test('a network hinders UDP where it surely blocks it, or holds it to much less than the link’s rate', () => {
  expect(hindersUdp(withUdp({ blocked: 0.95, open: 0.05 }))).toBe(true);
  expect(hindersUdp(withUdp({ policed: 0.95, open: 0.05 }))).toBe(true);
  expect(hindersUdp(withUdp({ policed: 0.95, open: 0.05 }, 0.8))).toBe(false);
  expect(hindersUdp(withUdp({ policed: 0.7, open: 0.3 }))).toBe(false);
  expect(hindersUdp({ cluster: null })).toBe(false);
});

test('what a check has measured outweighs what loads have shown', () => {
  const open = withUdp({ open: 1 });
  expect(leavesUdpOpen(open)).toBe(true);
  const check = { udp: { kind: 'blocked' } } as const;
  expect(hindersUdp({ ...open, check })).toBe(true);
  expect(leavesUdpOpen({ ...open, check })).toBe(false);
  expect(leavesUdpOpen({ ...open, check: { udp: { kind: 'unblocked' } } })).toBe(true);
});

test('origins are kept off HTTP/3 that offer it, or may', () => {
  const requests = [
    requestOf(0, { offersH3: true }),
    requestOf(1, { url: 'https://without.test/', offersH3: false }),
    requestOf(2, { url: 'https://unknown.test/a', offersH3: null }),
    requestOf(3, { url: 'https://unknown.test/b', offersH3: null }),
    requestOf(4, { url: 'https://ruled.test/', offersH3: true }),
    requestOf(5, { url: 'http://plain.test/', offersH3: null }),
    requestOf(6, { url: 'https://10.0.0.1/', offersH3: true }),
    requestOf(7, { url: 'https://cached.test/', offersH3: null, fromCache: true }),
  ];
  const load = loadOf(1, { recording: { requests } });
  const pins = planByNetwork(load, { siteRules: [{ site: 'ruled.test', rule: 'leave' }] }, false);
  expect(pins).toEqual(
    ['https://page.test', 'https://unknown.test'].map((origin) => ({ origin, kind: 'avoid-h3' })),
  );
  expect(planByNetwork(load, { siteRules: [] }, true).map(({ origin }) => origin)).toEqual([
    'https://page.test',
    'https://ruled.test',
  ]);
});

test('of a page with very many origins those come first that surely offer HTTP/3', () => {
  const requests = Array.from({ length: 300 }, (_, id) =>
    requestOf(id, { url: `https://host${id}.test/`, offersH3: id < 250 ? null : true }),
  );
  const pins = planByNetwork(loadOf(1, { recording: { requests } }), { siteRules: [] }, false);
  expect(pins).toHaveLength(100);
  expect(pins[0]!.origin).toBe('https://host250.test');
});

test('the user’s choice for a network replaces the one before, and the oldest is given up', () => {
  let networkRules = changeChoice('first', true, { networkRules: [] });
  networkRules = changeChoice('first', false, { networkRules });
  expect(networkRules).toEqual([{ network: 'first', keepsOffH3: false }]);
  expect([findChoice('first', { networkRules }), findChoice('other', { networkRules })]).toEqual([
    false,
    null,
  ]);
  for (let index = 0; index < 20; index++) networkRules = changeChoice(`n${index}`, true, { networkRules });
  expect([networkRules.length, findChoice('first', { networkRules })]).toEqual([20, null]);
  expect(changeChoice('n3', null, { networkRules })).toHaveLength(19);
});
