import type { NetworkPath, Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { networkPosterior } from '../../src/estimate/network-posterior.ts';
import { assumeProtocols } from '../../src/estimate/withheld-protocols.ts';
import { type FetchSketch, pageOf, pathOf, serverOf } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const HOME = 'https://a.test';
const CDN = 'https://cdn.test';
const RTT_MS = 30;

/**
 * A first visit: the page itself without HTTP/3, then files of a CDN that answers without `Timing-Allow-Origin`, the first two over
 * HTTP/2 and the others over the HTTP/3 that these offer.
 */
function recorded(udp: NetworkPath['udp'], files = 20): Recording {
  const fetches: FetchSketch[] = [
    { bytes: 30_000 },
    ...Array.from({ length: 8 }, () => ({ bytes: 60_000, after: [0] })),
    ...[0, 1].map(() => ({ origin: 1, bytes: 20_000, after: [0] })),
    { origin: 1, bytes: 2_000, after: [10] },
    ...Array.from({ length: files }, () => ({ origin: 1, bytes: 40_000, after: [11] })),
  ];
  const servers = [serverOf(HOME), serverOf(CDN, { h3Discovery: 'alt-svc' })];
  const path = pathOf({ rttMs: RTT_MS, downBps: 40e6, queueBytes: 750_000, udp });
  return withheld(recordLoad(pageOf(fetches, [HOME, CDN]), path, servers, { [HOME]: 'h2', [CDN]: 'h3' }));
}

/** As an extension sees a load: of cross-origin requests only the start, the response's start and the end. */
function withheld(recording: Recording): Recording {
  for (const request of recording.requests) {
    request.connectionId = null;
    request.offersH3 = !request.url.startsWith(HOME);
    if (!request.offersH3) continue;
    request.protocol = null;
    request.transferBytes = null;
    const { phases } = request;
    for (const name of Object.keys(phases) as (keyof typeof phases)[]) {
      if (name !== 'responseStartMs') phases[name] = null;
    }
  }
  return recording;
}

const posteriorOf = (recording: Recording) => networkPosterior(recording);

describe('a load whose protocols are withheld', () => {
  it('shows that UDP is policed, and at what rate', () => {
    const { udp, path } = posteriorOf(recorded({ kind: 'policed', bps: 3e6 }));
    // A server that is slow by itself explains it too, less well.
    expect(udp.policed).toBeGreaterThan(0.8);
    const { bps } = path.udp as { bps: number };
    expect(bps / 3e6).toBeGreaterThan(0.6);
    expect(bps / 3e6).toBeLessThan(1.6);
  });

  it('shows nothing of the kind where UDP is open', () => {
    const { udp, path } = posteriorOf(recorded({ kind: 'open' }));
    expect(udp.policed).toBeLessThan(0.03);
    expect(path.udp).toEqual({ kind: 'open' });
  });
});

describe('assumed protocols', () => {
  const open = recorded({ kind: 'open' });
  const protocolsOf = (requests: Recording['requests']) =>
    requests.map(({ protocol }) => protocol ?? '-').join(' ');

  it('are all ways in which a browser may use offers; their probabilities sum to 1', () => {
    const assumptions = assumeProtocols(open, undefined, RTT_MS);
    expect(assumptions.map(({ use }) => use)).toEqual(['ignored', 'followed', 'known']);
    expect(assumptions.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 9);
    const [ignored, followed, known] = assumptions.map(({ requests }) => protocolsOf(requests));
    expect(ignored).not.toContain('h3');
    // Those sent before the connection over HTTP/3 was open: the first two of the CDN, and the one that led to it.
    expect(followed!.match(/h3/g)).toHaveLength(20);
    expect(known!.match(/h3/g)).toHaveLength(23);
  });

  it('are only HTTP/2 where UDP is known to be blocked', () => {
    const [only, ...others] = assumeProtocols(open, { kind: 'blocked' }, RTT_MS);
    expect(others).toEqual([]);
    expect(only!.use).toBe('ignored');
    expect(protocolsOf(only!.requests)).not.toContain('-');
  });

  it('leave a recording as it is that shows all protocols, and origins that offer no HTTP/3', () => {
    const shown = open.requests.map((request) => ({
      ...request,
      protocol: request.protocol ?? ('h2' as const),
    }));
    expect(assumeProtocols({ ...open, requests: shown }, undefined, RTT_MS)).toEqual([
      { use: 'ignored', probability: 1, requests: shown },
    ]);
    const unoffered = open.requests.map((request) => ({ ...request, offersH3: false }));
    const [only] = assumeProtocols({ ...open, requests: unoffered }, undefined, RTT_MS);
    expect(protocolsOf(only!.requests)).toContain('-');
  });
});
