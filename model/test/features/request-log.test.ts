import { NO_PHASES, type RecordedRequest, type Recording } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { logRequests } from '../../src/features/request-log.ts';

const START_S = Date.parse('2026-01-01T00:00:00Z') / 1000;

function request(
  id: number,
  endMs: number,
  phases: Partial<RecordedRequest['phases']>,
  more: Partial<RecordedRequest> = {},
): RecordedRequest {
  return {
    id,
    url: `https://a.test/${id}`,
    method: 'GET',
    type: id === 0 ? 'document' : 'image',
    status: 200,
    protocol: 'h2',
    startMs: 0,
    endMs,
    phases: { ...NO_PHASES, ...phases },
    transferBytes: 4200,
    bodyBytes: 4000,
    decodedBytes: 4000,
    initiator: { kind: id === 0 ? 'navigation' : 'parser', requestId: null, source: 'recorded' },
    renderBlocking: null,
    fromCache: false,
    connectionId: null,
    remoteIp: null,
    offersH3: null,
    ...more,
  };
}

const recordingOf = (requests: RecordedRequest[]): Recording => ({
  format: 'hopwise-recording',
  version: 1,
  url: 'https://a.test/0',
  recordedAt: '2026-01-01T00:00:00Z',
  browser: '',
  pltMs: null,
  domContentLoadedMs: null,
  firstContentfulPaintMs: null,
  largestContentfulPaintMs: null,
  requests,
});

const OVER_TCP = {
  connectStartMs: 0,
  secureStartMs: 40,
  connectEndMs: 85,
  requestStartMs: 85,
  responseStartMs: 135,
};

test('each request has its own figures and the means of the record window', () => {
  const rows = logRequests(
    recordingOf([
      request(0, 155, OVER_TCP),
      request(1, 200, { requestStartMs: 100, responseStartMs: 200 }),
      request(2, 260, { connectStartMs: 200, connectEndMs: 230 }, { protocol: 'h3', url: 'https://b.test/' }),
    ]),
  );
  expect(rows).toEqual([
    {
      timeS: START_S + 0.155,
      protocol: 'tcp',
      figures: {
        mean_rtt_ms: 40,
        ttfb_ms: 50,
        mean_ttfb_ms: 50,
        ttfb_ratio: 1,
        response_goodput: 4000 / 20,
        completion_goodput: 4000 / 70,
      },
    },
    {
      timeS: START_S + 0.2,
      protocol: 'tcp',
      // The body arrived with its first byte: its rate is unknown.
      figures: {
        mean_rtt_ms: 40,
        ttfb_ms: 100,
        mean_ttfb_ms: 75,
        ttfb_ratio: 100 / 75,
        completion_goodput: 4000 / 100,
      },
    },
    // Withheld phases leave the handshake; TCP's is another transport's.
    { timeS: START_S + 0.26, protocol: 'quic', figures: { mean_rtt_ms: 30 } },
  ]);
});

test('what ended more than 30 s earlier is not averaged', () => {
  const late = { requestStartMs: 30_100, responseStartMs: 30_180 };
  const [, second] = logRequests(recordingOf([request(0, 155, OVER_TCP), request(1, 30_200, late)]));
  expect(second!.figures).toMatchObject({ mean_ttfb_ms: 80, ttfb_ratio: 1 });
  expect(second!.figures).not.toHaveProperty('mean_rtt_ms');
});

test('requests that failed, came from a cache, or have no known protocol are left out', () => {
  const unusable = [{ status: 0 }, { fromCache: true }, { protocol: null }];
  const requests = unusable.map((more, index) => request(index, 155, OVER_TCP, more));
  expect(logRequests(recordingOf(requests))).toEqual([]);
});

test('rows are in order of completion', () => {
  const phases = { requestStartMs: 10, responseStartMs: 20 };
  const rows = logRequests(recordingOf([request(0, 300, phases), request(1, 100, phases)]));
  expect(rows.map(({ timeS }) => timeS - START_S)).toEqual([expect.closeTo(0.1, 6), expect.closeTo(0.3, 6)]);
});
