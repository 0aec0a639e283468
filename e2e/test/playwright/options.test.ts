/** What a test asks of the replay fixtures. */
import { expect, it } from 'vitest';
import {
  browserProtocol,
  changesOf,
  namedNetwork,
  type ReplayNetwork,
  replayOf,
  requireReachable,
} from '../../src/playwright/options.ts';

const ORIGINS = ['https://a.test', 'https://b.test'].map((origin) => ({
  origin,
  protocols: ['h1' as const, 'h2' as const],
  extraRttMs: 0,
}));

it('names networks and replaces figures of theirs', () => {
  expect(namedNetwork('lte')).toMatchObject({ name: 'lte', network: { udp: 'open' } });
  expect(namedNetwork({ profile: 'lte', loss: 0.02 })).toMatchObject({
    name: 'lte, changed',
    network: { loss: 0.02 },
  });
  const figures = { rttMs: 80, downMbps: 5, upMbps: 1 };
  expect(namedNetwork(figures)).toMatchObject({ network: { ...figures, loss: 0, udp: 'open' } });
});

it.each([
  ['lte-por', /^network "lte-por": expected one of .*lte-poor/],
  [{ profile: 'lte', loss: 2 }, /^network\.loss: expected at most 0\.9, got 2$/],
  [{ profile: 'lte', rtt: 20 }, /^network\.rtt: expected no entry of this name$/],
  [{ rttMs: 20 }, /^network\.downMbps: expected a number, got nothing$/],
  [{ profile: 'lte', rttMs: '20' }, /^network\.rttMs: expected a number, got "20"$/],
])('refuses the network %j', (network, words) => {
  expect(() => namedNetwork(network as ReplayNetwork)).toThrow(words);
});

it('takes a protocol, or one for each origin', () => {
  expect(browserProtocol('natural', ORIGINS)).toBe('natural');
  const assignment = { 'https://a.test': 'h1', 'https://b.test': 'h2' } as const;
  expect(browserProtocol(assignment, ORIGINS)).toEqual({ assignment });
});

it.each([
  ['h4', /^protocol "h4": expected h1, h2, h3, natural, or an object/],
  [{ 'https://a.test': 'h1' }, /^protocol: https:\/\/b\.test: expected h1 or h2 to be assigned, got nothing/],
  [{ 'https://a.test': 'h1', 'https://b.test': 'h3' }, /https:\/\/b\.test: expected h1 or h2 .*, got h3/],
  [
    { 'https://a.test': 'h1', 'https://b.test': 'h2', 'https://c.test': 'h2' },
    /^protocol: https:\/\/c\.test: expected an origin of the page/,
  ],
])('refuses the protocol %j', (protocol, words) => {
  expect(() => browserProtocol(protocol as never, ORIGINS)).toThrow(words);
});

it('fills in what a replay leaves to its defaults', () => {
  expect(replayOf({ page: 'shop', protocol: 'h3' })).toEqual({
    page: 'shop',
    network: 'cable',
    protocol: 'h3',
    seed: 1,
    ipVersion: 4,
    view: 'cold',
    disturbed: 'repeat',
  });
});

it.each([
  [undefined, "replay: expected a page to replay, as in test.use({ replay: { page: 'shop' } })"],
  [{ page: 7 }, /^replay\.page: expected a string, got 7$/],
  [{ page: 'shop', netwrk: 'lte' }, /^replay\.netwrk: expected no entry of this name$/],
  [{ page: 'shop', view: 'hot' }, /^replay\.view: expected one of cold, warm, got "hot"$/],
])('refuses the replay %j', (replay, words) => {
  expect(() => replayOf(replay)).toThrow(words);
});

it('takes the changes of one load as they are', () => {
  const changes = { network: 'lte', protocol: 'h3', seed: 2, view: 'warm', timeoutMs: 500 };
  expect(changesOf(changes)).toEqual(changes);
  expect(changesOf({})).toEqual({});
});

it.each([
  [{ protcol: 'h1' }, /^load\.protcol: expected no entry of this name$/],
  [{ page: 'shop' }, /^load\.page: expected no entry of this name$/],
  [{ view: 'hot' }, /^load\.view: expected one of cold, warm, got "hot"$/],
  [{ timeoutMs: -5 }, /^load\.timeoutMs: expected more than 0, got -5$/],
  ['h3', /^load: expected an object, got "h3"$/],
])('refuses the changes %j of one load', (changes, words) => {
  expect(() => changesOf(changes)).toThrow(words);
});

it('refuses HTTP/3 where UDP is blocked, and nothing else', () => {
  const blocked = namedNetwork('udp-blocked');
  expect(() => requireReachable('link', 'h3', blocked)).toThrow(
    'link.protocol: expected natural, h1 or h2 on udp-blocked, which blocks UDP: no page loads over h3',
  );
  expect(() => requireReachable('link', 'natural', blocked)).not.toThrow();
  expect(() => requireReachable('link', 'h3', namedNetwork('udp-policed'))).not.toThrow();
});
