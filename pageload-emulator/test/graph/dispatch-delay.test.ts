import { NO_PHASES, type RecordedRequest, type RequestPhases } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import { CHROMIUM_COSTS } from '../../src/client/client-costs.ts';
import { dispatchDelays } from '../../src/graph/dispatch-delay.ts';

const USUAL_MS = CHROMIUM_COSTS.requestMs + CHROMIUM_COSTS.requestDelayMs;

function requestsOf(...requests: (Partial<RecordedRequest> & { at: Partial<RequestPhases> })[]) {
  return requests.map(
    ({ at, ...request }, id) =>
      ({
        id,
        protocol: 'h2',
        connectionId: 'c',
        ...request,
        phases: { ...NO_PHASES, ...at },
      }) as RecordedRequest,
  );
}

const DOCUMENT = { startMs: 0, at: { connectStartMs: 3, connectEndMs: 40, requestStartMs: 40 } };

describe('the dispatch delay', () => {
  it('is the wait of a batch of requests for the first step of its first', () => {
    const requests = requestsOf(
      DOCUMENT,
      { startMs: 100, at: { requestStartMs: 125 } },
      { startMs: 101, at: { requestStartMs: 120 } },
      { startMs: 103, at: { requestStartMs: 160 } },
    );
    const delayMs = 20 - USUAL_MS;
    expect([...dispatchDelays(requests)]).toEqual([
      [1, delayMs],
      [2, delayMs],
      [3, delayMs],
    ]);
  });

  it('begins when the browser has sent the requests before', () => {
    const requests = requestsOf(
      DOCUMENT,
      { startMs: 100, at: { requestStartMs: 130 } },
      { startMs: 110, at: { requestStartMs: 140 } },
    );
    expect(dispatchDelays(requests).get(1)).toBe(30 - USUAL_MS);
    expect(dispatchDelays(requests).get(2)).toBe(10 - USUAL_MS);
  });

  it('ends with name resolution when a connection is opened', () => {
    const requests = requestsOf(DOCUMENT, {
      startMs: 100,
      connectionId: 'd',
      at: { dnsStartMs: 115, connectStartMs: 140, connectEndMs: 180, requestStartMs: 180 },
    });
    expect(dispatchDelays(requests).get(1)).toBe(15 - USUAL_MS);
  });

  it('shows on an origin that had a connection, where connections have no names', () => {
    const url = 'https://a.test/';
    const [document, request] = [
      { ...DOCUMENT, url, connectionId: null },
      { startMs: 100, url, connectionId: null, at: { requestStartMs: 120 } },
    ];
    expect(dispatchDelays(requestsOf(document, request)).get(1)).toBe(20 - USUAL_MS);
    const other = { ...request, url: 'https://b.test/' };
    expect(dispatchDelays(requestsOf(document, other)).size).toBe(0);
  });

  it.each([
    ['the usual', { protocol: 'h2', connectionId: 'c' }, USUAL_MS],
    ['a wait for a connection that was being opened', { protocol: 'h2', connectionId: 'other' }, 50],
    ['a wait for a free connection', { protocol: 'h1', connectionId: 'c' }, 50],
    ['a wait for something else', { protocol: 'h2', connectionId: 'c' }, 500],
  ] as const)('is not %s', (_what, request, waitMs) => {
    const requests = requestsOf(DOCUMENT, { ...request, startMs: 100, at: { requestStartMs: 100 + waitMs } });
    expect(dispatchDelays(requests).size).toBe(0);
  });
});
