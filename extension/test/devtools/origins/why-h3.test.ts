/** Why an origin was asked over HTTP/3, or why not. */
import type { VerifiedOrigin } from '@hopwise/contract';
import { expect, test } from 'vitest';
import type { OriginFacts } from '../../../src/devtools/emulation/origin-facts.ts';
import { explainH3 } from '../../../src/devtools/origins/why-h3.ts';

const facts: OriginFacts = {
  origin: 'https://cdn.test',
  site: 'cdn.test',
  isThirdParty: true,
  requests: 4,
  bytes: 40_000,
  rttMs: 30,
  used: { h2: 4 },
  offersH3: true,
  connections: 1,
  addresses: ['2001:db8::1'],
};
const known = { facts, udp: 'open', visit: 'later', verified: null, pinned: {} } as const;

function verifiedAs(speaksH3: boolean | null, alpn: string[]): VerifiedOrigin {
  return {
    origin: facts.origin,
    unreachable: '',
    h3Offered: {
      altSvc: [],
      httpsRecord: { state: 'present', alpn, port: null, target: '', ech: false, detail: '' },
    },
    speaks: { h2: true, h3: speaksH3 },
    tcp: null,
    quic: null,
  } as VerifiedOrigin;
}

test.each([
  ['used by all', { ...known, facts: { ...facts, used: { h3: 4 } } }, /^The browser used it/],
  ['used late', { ...known, facts: { ...facts, used: { h2: 1, h3: 3 } } }, /^The browser changed to it/],
  ['of plain http', { ...known, facts: { ...facts, origin: 'http://cdn.test' } }, /^HTTP\/3 needs https/],
  ['pinned', { ...known, pinned: { 'https://cdn.test': 'h2' as const } }, /^A pin of hopwise/],
  ['without an offer', { ...known, facts: { ...facts, offersH3: false } }, /^The server does not offer it/],
  ['without a header', { ...known, facts: { ...facts, offersH3: null } }, /was not recorded/],
  ['on a network that blocks UDP', { ...known, udp: 'blocked' as const }, /blocks UDP/],
  ['that does not answer', { ...known, verified: verifiedAs(false, []) }, /does not answer over it/],
  ['on a first visit', { ...known, visit: 'first' as const }, /^This was a first visit/],
  ['with an offer that the browser ignores', known, /marked it as broken/],
])('an origin %s has one answer', (_words, circumstances, answer) => {
  expect(explainH3(circumstances).answer).toMatch(answer);
});

test('an HTTPS record offers HTTP/3 too, and everything known is listed', () => {
  const verified = verifiedAs(true, ['h2', 'h3']);
  const { title, facts: listed } = explainH3({
    ...known,
    facts: { ...facts, offersH3: false },
    udp: 1.7,
    verified,
  });
  expect(title).toBe('Why not HTTP/3?');
  expect(Object.fromEntries(listed)).toEqual({
    Used: 'by none of 4 requests',
    'Alt-Svc': 'no offer of HTTP/3',
    'HTTPS record': 'offers HTTP/3',
    UDP: 'limited to 1.7 Mbit/s',
    Visit: 'later: the browser knows the offers',
    'Broken mark (inferred)': 'likely: offered, UDP open, yet not used; browsers do not show the mark',
    Address: 'IPv6: 2001:db8::1',
    'Server over HTTP/3': 'answers',
  });
});
