import { NO_PHASES } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { networkOf, usedNetwork } from '../../src/load/used-network.ts';
import { cached, loadOf, requestOf } from '../evidence/stored-loads.ts';

const ORIGIN = 'https://page.test';
const proxied = requestOf(0, { remoteIp: null });
const local = requestOf(1, { remoteIp: '10.0.0.1' });
const named = (url: string) => requestOf(3, { remoteIp: null, url });
const answering = (afterMs: number, protocol: 'h2' | 'h3' = 'h2') => {
  const { phases } = proxied;
  const connecting = { connectStartMs: 10, secureStartMs: 10 + afterMs, connectEndMs: 30 };
  return requestOf(4, { remoteIp: null, protocol, phases: { ...phases, ...connecting } });
};
/** Chromium names neither protocol nor address of what a page's service worker fetched. */
const byWorker = requestOf(5, {
  remoteIp: null,
  protocol: null,
  phases: { ...NO_PHASES, responseStartMs: 20 },
});
const withheld = requestOf(6, { remoteIp: null, protocol: null, phases: NO_PHASES });
const elsewhere = requestOf(2, { url: 'https://elsewhere.test/' });

test.each([
  ['public addresses', [requestOf(0)], 'internet'],
  ['a private address', [requestOf(0), local], 'local'],
  ['no address but the cache', [cached(0)], 'unknown'],
  ['nothing that answered', [requestOf(0, { remoteIp: null, status: 0 })], 'unknown'],
  ['addresses that the browser does not report', [proxied], 'internet'],
  ['servers that a service worker asked', [byWorker], 'internet'],
  [
    'a server on this machine that another site asked for',
    [requestOf(0), { ...byWorker, remoteIp: '127.0.0.1' }],
    'internet',
  ],
  ['other servers of which the browser tells nothing', [withheld], 'unknown'],
  ['a server that is near by its name', [proxied, named('http://printer.localhost/')], 'local'],
  ['a server that is near by its literal address', [proxied, named('http://192.168.1.2/')], 'local'],
  ['a server that answers a handshake at once', [proxied, answering(0.4)], 'local'],
  ['servers that answer a handshake later', [proxied, answering(1.5)], 'internet'],
  ['a server that answers another handshake later', [answering(0.4), answering(1.5)], 'internet'],
  ['a server over HTTP/3, whose handshakes begin together', [answering(0.1, 'h3')], 'internet'],
  ['a server whose handshake had ended before the request', [answering(0)], 'internet'],
] as const)('a load from %s', (_words, requests, network) => {
  expect(usedNetwork({ requests: [...requests] })).toBe(network);
});

test.each([
  ['to public addresses only', false, [proxied], 'internet'],
  ['to any address', true, [proxied], 'unknown'],
  ['to any address, beside public ones', true, [proxied, elsewhere], 'unknown'],
  ['to any address, beside a private one', true, [proxied, local], 'local'],
  ['to any address, with nothing requested from it', true, [cached(0), elsewhere], 'internet'],
] as const)('a load through the helper, which may connect %s', (_words, allowsLocal, requests, network) => {
  expect(usedNetwork({ requests: [...requests] }, [{ origin: ORIGIN, allowsLocal }])).toBe(network);
});

test('the network of a load that an earlier version stored is that of its addresses', () => {
  expect(networkOf(loadOf(1, { recording: { requests: [local] } }))).toBe('local');
  expect(networkOf(loadOf(1, { network: 'unknown' }))).toBe('unknown');
});
