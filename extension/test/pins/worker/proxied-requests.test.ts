import { EVERY_ORIGIN } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import type { PinPeriod } from '../../../src/evidence/pin-period.ts';
import { correctProxiedRequests } from '../../../src/pins/worker/proxied-requests.ts';

const NAVIGATED_MS = Date.parse('2026-01-02T03:04:05.000Z');

const PHASES = {
  dnsStartMs: 1,
  dnsEndMs: 2,
  connectStartMs: 3,
  secureStartMs: 4,
  connectEndMs: 5,
  requestStartMs: 6,
  responseStartMs: 70,
};

const REQUEST = {
  id: 0,
  url: 'https://a.test/x?y',
  protocol: 'h2',
  startMs: 100,
  phases: PHASES,
  fromCache: false,
  remoteIp: '127.0.0.1',
} as RecordedRequest;

function recording(...requests: Partial<RecordedRequest>[]): Recording {
  const all = requests.map((more) => ({ ...REQUEST, ...more }));
  const recordedAt = new Date(NAVIGATED_MS).toISOString();
  return { recordedAt, browser: 'Chromium 156', requests: all } as Recording;
}

function carried(
  kind: PinPeriod['kind'],
  request: Partial<RecordedRequest> = {},
  { sinceMs = 0, endedMs = null }: Partial<PinPeriod> = {},
  browser = 'Chromium 156',
) {
  const period = { origin: 'https://a.test', kind, allowsLocal: false, sinceMs, endedMs };
  return correctProxiedRequests({ ...recording(request), browser }, [period]).requests[0]!;
}

const WITHOUT_CONNECTION = {
  ...PHASES,
  dnsStartMs: null,
  dnsEndMs: null,
  connectStartMs: null,
  secureStartMs: null,
  connectEndMs: null,
};

describe('correctProxiedRequests', () => {
  it('removes the helper’s address from requests of every origin, and no other', () => {
    const everyOrigin = { ports: [1], exceptions: ['https://here.test'], leftSites: ['left.test'] };
    const period = {
      origin: EVERY_ORIGIN,
      kind: 'avoid-h3' as const,
      allowsLocal: false,
      sinceMs: 0,
      endedMs: null,
      everyOrigin,
    };
    const addressOf = (request: Partial<RecordedRequest>) =>
      correctProxiedRequests(recording(request), [period]).requests[0]!.remoteIp;
    expect(addressOf({})).toBeNull();
    // A name of this machine, one of the local network that the helper has refused, and the user's own.
    expect(addressOf({ url: 'https://localhost/' })).toBe('127.0.0.1');
    expect(addressOf({ url: 'https://here.test/' })).toBe('127.0.0.1');
    expect(addressOf({ remoteIp: '10.0.0.1' })).toBe('10.0.0.1');
    expect(addressOf({ url: 'https://left.test/', remoteIp: '93.184.216.34' })).toBe('93.184.216.34');
  });

  it('records the pinned protocol, without the phases of the connection to the helper', () => {
    expect(carried('h3')).toEqual({
      ...REQUEST,
      protocol: 'h3',
      remoteIp: null,
      phases: WITHOUT_CONNECTION,
    });
  });

  it('removes only the address from requests through a tunnel', () => {
    expect(carried('avoid-h3')).toEqual({ ...REQUEST, remoteIp: null });
  });

  it('removes what Firefox measured of its connection to the tunnel, which is on this machine', () => {
    const corrected = { ...REQUEST, remoteIp: null, phases: WITHOUT_CONNECTION };
    expect(carried('avoid-h3', {}, {}, 'Firefox 153')).toEqual(corrected);
  });

  it('leaves requests unchanged that started before or after the pin, came from a cache or belong to another origin', () => {
    expect(carried('h1', {}, { sinceMs: NAVIGATED_MS + 101 })).toEqual(REQUEST);
    expect(carried('h1', {}, { sinceMs: NAVIGATED_MS + 100 }).protocol).toBe('h1');
    expect(carried('h1', {}, { endedMs: NAVIGATED_MS + 100 })).toEqual(REQUEST);
    expect(carried('h1', {}, { endedMs: NAVIGATED_MS + 101 }).protocol).toBe('h1');
    expect(carried('h1', { fromCache: true }).protocol).toBe('h2');
    expect(carried('h1', { url: 'https://a.test:8443/' }).protocol).toBe('h2');
  });

  it('adds no protocol to requests without one', () => {
    expect(carried('h1', { protocol: null }).protocol).toBeNull();
  });

  it('returns the same recording when nothing is pinned', () => {
    const one = recording({});
    expect(correctProxiedRequests(one, [])).toBe(one);
  });
});
