import { expect, test } from 'vitest';
import {
  changeChoice,
  findChoice,
  keepsOffH3,
  listLeftSites,
} from '../../../src/autopilot/settings/network-rule.ts';
import { knownWithUdp as withUdp } from '../../support/known-network.ts';

test('HTTP/3 is kept off where the network slows it down and the autopilot is on, or where the user wants it', () => {
  const policed = withUdp({ policed: 0.95, open: 0.05 });
  const blocked = withUdp({ blocked: 0.95, open: 0.05 });
  const settings = { isOn: true, networkRules: [] };
  expect([keepsOffH3('n', policed, settings), keepsOffH3('n', blocked, settings)]).toEqual([true, false]);
  const asked = { isOn: false, networkRules: changeChoice('n', true, { networkRules: [] }) };
  expect(keepsOffH3('n', blocked, asked)).toBe(true);
});

test('a rule of the user’s leaves its site to the browser, or to HTTP/3', () => {
  const siteRules = [
    { site: 'left.test', rule: 'leave' },
    { site: 'held.test', rule: 'h2' },
    { site: 'fast.test', rule: 'h3' },
  ] as const;
  expect(listLeftSites({ siteRules: [...siteRules] })).toEqual(['left.test', 'fast.test']);
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
