import {
  buildGraph,
  type FetchActivity,
  type Protocol,
  type RecordedRequest,
  type Recording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const ORIGINS = ['https://www.test', 'https://api.test'];
const API_THINK_MS = 80;

/** A document and `count` API calls, all requested when it has arrived, recorded on a slow link. */
function apiLoad(protocol: Protocol, count: number): Recording {
  const call: FetchSketch = { origin: 1, bytes: 20_000, after: [0] };
  const page = pageOf([{ bytes: 30_000 }, ...Array.from({ length: count }, () => call)], ORIGINS);
  for (const activity of page.activities as FetchActivity[]) {
    if (activity.id > 0) Object.assign(activity, { type: 'fetch', thinkMs: API_THINK_MS });
  }
  const path = pathOf({ rttMs: 100, downBps: 1.6e6, upBps: 1e6 });
  const servers = ORIGINS.map((origin) => serverOf(origin));
  return recordLoad(page, path, servers, uniform(page, protocol));
}

/** Think times in order of request. */
function thinkTimesOf(recording: Recording): number[] {
  return (buildGraph(recording).activities as FetchActivity[]).flatMap(({ thinkMs }) => thinkMs ?? []);
}

/** A load of one API call, so that its waits can be given. */
function withCalls(waits: readonly number[], handshakeMs = 100): Recording {
  const recording = apiLoad('h2', 1);
  const [document, call] = recording.requests as [RecordedRequest, RecordedRequest];
  const requestStartMs = call.startMs + 2 * handshakeMs;
  const calls = waits.map((waitMs, index): RecordedRequest => {
    const responseStartMs = requestStartMs + waitMs;
    const handshake =
      index === 0
        ? {
            connectStartMs: call.startMs,
            secureStartMs: call.startMs + handshakeMs,
            connectEndMs: requestStartMs,
          }
        : { connectStartMs: null, secureStartMs: null, connectEndMs: null };
    return {
      ...call,
      id: index + 1,
      url: `${ORIGINS[1]}/${index}`,
      phases: { dnsStartMs: null, dnsEndMs: null, ...handshake, requestStartMs, responseStartMs },
      endMs: responseStartMs + 1,
      transferBytes: 1_000,
    };
  });
  return { ...recording, requests: [document, ...calls], pltMs: calls.at(-1)!.endMs };
}

describe('think times', () => {
  it.each<[Protocol, number]>([
    ['h2', 800],
    ['h3', 550],
  ])(
    'of thirty API calls at once on a slow link, over %s, leave out most queueing',
    (protocol, maxWaitMs) => {
      const recording = apiLoad(protocol, 30);
      const waits = recording.requests
        .slice(1)
        .map(({ phases }) => phases.responseStartMs! - phases.requestStartMs!);
      expect(Math.max(...waits)).toBeGreaterThan(maxWaitMs);
      // Less the round trip of 100, the longest waits are 6 to 9 times the server's 80.
      const [, ...thinkTimes] = thinkTimesOf(recording);
      expect(thinkTimes).toHaveLength(30);
      expect(Math.max(...thinkTimes)).toBeLessThan(2.5 * API_THINK_MS);
      expect(Math.min(...thinkTimes)).toBeGreaterThan(0.6 * API_THINK_MS);
    },
  );

  it.each(['h1', 'h2'] as const)(
    'are not shortened by what came before the link was idle, over %s',
    (protocol) => {
      const file: FetchSketch = { origin: 0, bytes: 60_000, after: [0] };
      const page = pageOf(
        [{ bytes: 30_000 }, file, file, file, file, file, file, { bytes: 3_000, after: [0] }],
        ORIGINS,
      );
      Object.assign(page.activities[7]!, { type: 'script', thinkMs: 5_000 });
      const path = pathOf({ rttMs: 50, downBps: 4e6, upBps: 1e6 });
      const servers = ORIGINS.map((origin) => serverOf(origin));
      const thinkTimes = thinkTimesOf(recordLoad(page, path, servers, uniform(page, protocol)));
      // The six files take 0.7 s.
      expect(thinkTimes.at(-1)! / 5_000).toBeCloseTo(1, 1);
    },
  );

  it('of like requests are those of the shortest wait, unless nothing explains a longer one', () => {
    // A round trip takes 100, so the server took 60, up to 80 and up to 400. Of these a busy processor explains 30, and the two
    // responses before 2 · 1050 bytes at the document's 31.5 kB in 400 ms: 26.67.
    const [, ...thinkTimes] = thinkTimesOf(withCalls([160, 180, 500]));
    expect(thinkTimes).toEqual([60, 60, 400 - 30 - 80 / 3].map((ms) => expect.closeTo(ms, 6)));
  });

  it('contain no round trip where another response of the server was pushed', () => {
    const recording = withCalls([160, 140]);
    const [, , call] = recording.requests as [RecordedRequest, RecordedRequest, RecordedRequest];
    const requestStartMs = call.endMs + 1;
    const phases = { ...call.phases, requestStartMs, responseStartMs: requestStartMs + 0.4 };
    const pushed: RecordedRequest = {
      ...call,
      id: 3,
      url: `${ORIGINS[1]}/pushed.css`,
      type: 'style',
      startMs: requestStartMs,
      phases,
      endMs: requestStartMs + 20,
    };
    const thinkTimes = thinkTimesOf({ ...recording, requests: [...recording.requests, pushed] });
    // Handshakes of 100 ms each show the round trip.
    expect(thinkTimes.slice(1)).toEqual([expect.closeTo(40, 0), expect.closeTo(40, 0)]);
  });

  it('do not shrink by a handshake that a loss delayed', () => {
    // The API's handshake took 400, but its response came 160 after the request. The document's origin shows 100.
    const [, thinkMs] = thinkTimesOf(withCalls([160], 400));
    expect(thinkMs).toBeCloseTo(60, 6);
  });

  it('of files are those that neither the link nor a round trip explains', () => {
    const recording = withCalls([120, 1_600]);
    const [document, fast, slow] = recording.requests as [RecordedRequest, RecordedRequest, RecordedRequest];
    const requests = [document, { ...fast, type: 'script' as const }, { ...slow, type: 'image' as const }];
    const [, ofScript, ofImage] = thinkTimesOf({ ...recording, requests });
    // A round trip of 100; the script's 20 more are the least that the server takes.
    expect(ofScript).toBeCloseTo(20, 6);
    // The image took 1500 more than a round trip, half of which may be variation; the page never fills the link.
    expect(ofImage).toBeCloseTo(1_500 - 50, 3);
  });

  it.each<Protocol>(['h2', 'h3'])(
    'are the same where the recorder names no connections: an origin has one, over %s',
    (protocol) => {
      const files = Array.from({ length: 40 }, () => ({ origin: 1, bytes: 30_000, after: [0] }));
      const page = pageOf([{ bytes: 20_000 }, ...files], ORIGINS);
      const path = pathOf({ rttMs: 60, downBps: 100e6, loss: 0.02 });
      const servers = ORIGINS.map((origin) => serverOf(origin));
      const recording = recordLoad(page, path, servers, uniform(page, protocol));
      expect(recording.requests.every(({ connectionId }) => connectionId !== null)).toBe(true);
      const requests = recording.requests.map((request) => ({ ...request, connectionId: null }));
      expect(thinkTimesOf({ ...recording, requests })).toEqual(thinkTimesOf(recording));
    },
  );

  it('of files over HTTP/1.1 are not taken for queueing for longer than a queue takes to drain', () => {
    // A file of 2 MB fills a link of 4 Mbit/s for four seconds, in which the server of a small one takes three.
    const page = pageOf(
      [{ bytes: 20_000 }, { origin: 1, bytes: 2_000_000, after: [0] }, { bytes: 2_000, after: [0] }],
      ORIGINS,
    );
    Object.assign(page.activities[2]!, { thinkMs: 3_000 });
    const path = pathOf({ rttMs: 40, downBps: 4e6 });
    const servers = ORIGINS.map((origin) => serverOf(origin));
    const small = buildGraph(recordLoad(page, path, servers, uniform(page, 'h1')))
      .activities[2] as FetchActivity;
    expect(small.thinkMs).toBeGreaterThan(2_300);
    expect(small.thinkMs).toBeLessThan(3_200);
  });

  it('of files on an origin that shows no handshake are the waits less a likely round trip', () => {
    const [document, call] = withCalls([1_500]).requests as [RecordedRequest, RecordedRequest];
    const noHandshake = { connectStartMs: null, secureStartMs: null, connectEndMs: null };
    const script = { ...call, type: 'script' as const, phases: { ...call.phases, ...noHandshake } };
    const [, thinkMs] = thinkTimesOf({ ...withCalls([1_500]), requests: [document, script] });
    // The document's origin shows 100; 0 to 1400 more: 30 / ((1 + 30 / 1430) / 2) - 30 = 28.77.
    expect(thinkMs).toBeCloseTo(1_500 - 100 - 28.767, 1);
  });
});
