import { buildGraph, parseRecording, predict } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../../support/hars.ts';

const RTT_MS = 100;
/** TCP, then TLS 1.3. */
const CONNECT = { connect: 2 * RTT_MS, ssl: RTT_MS };
/** A round trip and the server's time. */
const WAIT = { wait: RTT_MS + 10 };
const PAGE = 'https://a.test/';
const APP = 'https://a.test/app.js';
const API = 'https://api.test/v1/items?list=new';
const byApp = {
  _initiator: { type: 'script', stack: { callFrames: [{ url: APP, functionName: 'load', scriptId: '1' }] } },
};

/**
 * A page whose script asks an API, and shows images once it has the answer. Times of the way, on a round trip of 100 ms:
 *
 *     document 0 to 310, script 310 to 420, preflight 420 to 730 (connection and answer), request 730 to 840 on the same connection
 *     or to 1040 on another one, image to 950 or 1150
 *
 * @param form as Chromium writes it, where the request's own time begins with its preflight's, or others, where it begins after it
 * @param isApart whether the request takes another connection, with credentials
 */
function har(form: 'chromium' | 'other', isApart: boolean): object {
  const own = isApart ? CONNECT : {};
  const sentMs = 730 + (isApart ? 200 : 0);
  const answeredMs = sentMs + 110;
  const connection = isApart ? '31' : '30';
  const request = (startMs: number) =>
    chromiumEntry(
      API,
      startMs,
      { ...own, ...WAIT, ...(startMs < 730 && { blocked: 730 - startMs }) },
      { ...byApp, _resourceType: 'fetch', connection },
    );
  const preflight = {
    ...chromiumEntry(API, 420, { ...CONNECT, ...WAIT }, { _resourceType: 'preflight', connection: '30' }),
    request: { method: 'OPTIONS', url: API },
    _initiator: form === 'chromium' ? { type: 'preflight', url: API } : byApp._initiator,
  };
  const entries = [
    chromiumEntry(PAGE, 0, { ...CONNECT, ...WAIT }, { _resourceType: 'document', connection: '20' }),
    chromiumEntry(APP, 310, WAIT, { _resourceType: 'script', connection: '20' }),
    ...(form === 'chromium' ? [request(420), preflight] : [preflight, request(730)]),
    chromiumEntry('https://a.test/new.png', answeredMs, WAIT, {
      ...byApp,
      _resourceType: 'image',
      connection: '20',
    }),
  ];
  return harOf(entries, { onLoad: answeredMs + 110, onContentLoad: 430 });
}

const CASES = [
  ['chromium', false],
  ['chromium', true],
  ['other', false],
  ['other', true],
] as const;

describe.each(CASES)(
  'a preflight in the form of %s, its request on another connection: %s',
  (form, isApart) => {
    const recording = parseRecording(har(form, isApart));
    const [preflight, request] = recording.requests.filter(({ url }) => url === API);

    it('comes before its request, which it leads to', () => {
      expect([preflight!.method, request!.method]).toEqual(['OPTIONS', 'GET']);
      expect(recording.requests[preflight!.initiator.requestId!]!.url).toBe(APP);
      expect(request!.initiator).toEqual({ kind: 'script', requestId: preflight!.id, source: 'recorded' });
      expect(request!.startMs).toBeCloseTo(preflight!.endMs, 0);
      const { activities } = buildGraph(recording);
      const idOf = (requestId: number) =>
        activities.find((each) => each.kind === 'fetch' && each.requestId === requestId)!.id;
      const after = activities[idOf(request!.id)]!.after.map(({ activity }) => activity);
      expect(after).toEqual([idOf(preflight!.id)]);
    });

    it('takes its time under every protocol', () => {
      const network = { rttMs: RTT_MS, downBps: 1e8, upBps: 5e7, loss: 0 };
      const { waterfall } = predict(recording, { network, waterfall: true });
      const endMs = (protocol: 'h2' | 'h3') =>
        waterfall[protocol]!.find(({ requestId }) => requestId === request!.id)!.endMs;
      expect(Math.abs(endMs('h2') - request!.endMs)).toBeLessThan(0.05 * request!.endMs);
      // Over HTTP/3 each of two or three connections is ready a round trip sooner.
      const saved = (endMs('h2') - endMs('h3')) / RTT_MS;
      expect(Math.abs(saved - (isApart ? 3 : 2))).toBeLessThan(0.2);
    });
  },
);
