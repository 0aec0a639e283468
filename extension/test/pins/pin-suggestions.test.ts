import type { OriginRecommendation, Protocol, Recording } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { findProtocolsInUse, suggestPins } from '../../src/pins/page/pin-suggestions.ts';

type Times = OriginRecommendation['pltMs'];

const recommended = (protocol: Protocol, pltMs: Times, change: Partial<OriginRecommendation> = {}) =>
  ({ origin: 'https://a.example', decided: true, protocol, pltMs, ...change }) as OriginRecommendation;

test.each<[string, Protocol, Times, Protocol | undefined, string[]]>([
  ['HTTP/2 before HTTP/3', 'h2', { h1: 150, h2: 100, h3: 130 }, 'h3', ['avoid-h3', 'h2']],
  ['the same on a first visit', 'h2', { h1: 150, h2: 100, h3: 130 }, 'h2', ['avoid-h3', 'h2']],
  ['HTTP/1.1 before HTTP/3 before HTTP/2', 'h1', { h1: 100, h2: 150, h3: 130 }, 'h3', ['h1']],
  ['HTTP/1.1 before HTTP/2, without HTTP/3', 'h1', { h1: 100, h2: 130 }, 'h2', ['h1']],
  ['HTTP/1.1, when it is not known what is used', 'h1', { h1: 100, h2: 130 }, undefined, ['h1']],
  ['HTTP/3, which is not used yet', 'h3', { h2: 130, h3: 100 }, 'h2', ['h3']],
  ['HTTP/3, which is used', 'h3', { h2: 130, h3: 100 }, 'h3', []],
  ['HTTP/3, when it is not known what is used', 'h3', { h2: 130, h3: 100 }, undefined, []],
  ['HTTP/2, which is used', 'h2', { h1: 130, h2: 100 }, 'h2', []],
])('%s', (_name, best, pltMs, inUse, kinds) => {
  expect(suggestPins(recommended(best, pltMs), inUse)).toEqual(kinds);
});

test.each(['https://9.9.9.9', 'https://[2620:fe::fe]:8443'])(
  'offers no pin to a protocol for the IP address %s',
  (origin) => {
    expect(suggestPins(recommended('h2', { h2: 100, h3: 130 }, { origin }), 'h3')).toEqual(['avoid-h3']);
  },
);

test.each<Partial<OriginRecommendation>>([
  { decided: false },
  { origin: 'http://a.example' },
  { origin: 'https://localhost:8443' },
  { origin: 'https://app.localhost' },
  { origin: 'https://127.0.0.1' },
  { origin: 'https://[::1]:8443' },
  { origin: 'https://10.1.2.3' },
  { origin: 'https://192.168.1.1:8443' },
  { origin: 'https://[fd00::1]' },
])('suggests no pin for %j', (change) => {
  expect(suggestPins(recommended('h1', { h1: 100, h2: 130, h3: 150 }, change), 'h3')).toEqual([]);
});

test('the protocol in use is the one of most requests', () => {
  const request = (url: string, protocol: Protocol | null) => ({ url, protocol });
  const requests = [
    request('https://a.example/', 'h2'),
    request('https://a.example/1', 'h3'),
    request('https://a.example/2', 'h3'),
    request('https://b.example/', null),
    request('not a URL', 'h1'),
  ] as Recording['requests'];
  expect([...findProtocolsInUse({ requests })]).toEqual([['https://a.example', 'h3']]);
});
