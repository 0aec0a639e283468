import {
  estimateNetwork,
  networkPosterior,
  PROTOCOLS,
  parseRecording,
  predict,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { longWaits } from '../../src/graph/long-waits.ts';
import { chromiumEntry, type HarTimings, harOf } from '../support/hars.ts';

const OPENING: HarTimings = { dns: 5, connect: 60, ssl: 30, wait: 50, receive: 1 };

/** A page over HTTP/2 with a script of another server, for which the load event waits. */
function pageWith(timings: HarTimings): object {
  const script = chromiumEntry(
    'https://tag.test/t.js',
    170,
    { ...OPENING, ...timings },
    kindOf('script', '2'),
  );
  const endMs = 170 + (script as { time: number }).time;
  return harOf(
    [
      chromiumEntry('https://shop.test/', 0, { ...OPENING, receive: 20 }, kindOf('document', '1')),
      chromiumEntry('https://shop.test/a.css', 160, { wait: 40, receive: 5 }, kindOf('stylesheet', '1')),
      script,
    ],
    { onLoad: endMs + 10, onContentLoad: endMs },
  );
}

function kindOf(type: string, connection: string): object {
  const initiator = type === 'document' ? { type: 'other' } : { type: 'parser', url: 'https://shop.test/' };
  return { _resourceType: type, _connectionId: connection, _initiator: initiator, _priority: 'High' };
}

describe('a request that was held up', () => {
  it.each([
    ['before its first step', { blocked: 3_000 }],
    ['while its connection was opened', { connect: 3_060 }],
    ['while TLS was negotiated', { connect: 3_060, ssl: 3_030 }],
    ['before it was sent', { send: 3_000 }],
    ['until it was answered', { wait: 3_050 }],
  ])('%s holds up the load under every protocol', (_, timings) => {
    const recording = parseRecording(pageWith(timings));
    const { decision, fit } = predict(recording);
    expect(fit.understood).toBe(true);
    expect(decision.action.kind).toBe('leave');
    expect(fit.explainedMs! / recording.pltMs!).toBeCloseTo(1, 1);
    for (const protocol of PROTOCOLS) {
      expect(decision.protocols[protocol]!.pltMs / decision.baseline.pltMs).toBeCloseTo(1, 1);
    }
  });

  it('by a limit of the browser waits for its turn in the emulation', () => {
    const others = Array.from({ length: 6 }, (_, index) =>
      chromiumEntry(`https://shop.test/${index}.jpg`, 200, { wait: 900 }, kindOf('image', `${index}`)),
    );
    const last = chromiumEntry(
      'https://shop.test/last.js',
      205,
      { ...OPENING, blocked: 700 },
      kindOf('script', '9'),
    );
    const { requests } = parseRecording(harOf([...others, last]));
    expect(longWaits(requests).size).toBe(0);
    expect([...longWaits(requests.slice(3).map((request, id) => ({ ...request, id })))]).toEqual([[3, 700]]);
  });

  it('over HTTP/1.1 waited for no turn where a connection was idle', () => {
    const overH1 = (path: string, startMs: number, timings: HarTimings, type: string) => {
      const entry = chromiumEntry(`https://shop.test/${path}`, startMs, timings, kindOf(type, '1'));
      const { response } = entry as { response: object };
      return { ...entry, response: { ...response, httpVersion: 'http/1.1' } };
    };
    // 5 + 60 + 50 + 1 = 116
    const document = overH1('', 0, OPENING, 'document');
    const last = overH1('a.js', 120, { blocked: 3_000, wait: 50 }, 'script');
    const recording = parseRecording(harOf([document, last], { onLoad: 3_180 }));
    expect([...longWaits(recording.requests)]).toEqual([[1, 3_000]]);
    expect(predict(recording).fit.explainedMs! / 3_180).toBeCloseTo(1, 1);
    // Its connection is taken from 119 to 2930 ms, less than 300 ms before it leaves at 3120 ms.
    const before = overH1('slow.js', 119, { wait: 2_811 }, 'script');
    expect(longWaits(parseRecording(harOf([document, before, last])).requests).size).toBe(0);
    // Nothing shows that there was a connection.
    expect(longWaits(parseRecording(harOf([last])).requests).size).toBe(0);
  });

  it('by its connection alone shows nothing of its server', () => {
    const over = (...connects: number[]) => {
      const entries = connects.map((connect, index) =>
        chromiumEntry(`https://a.test/${index}`, 0, { ...OPENING, connect }, kindOf('image', `${index}`)),
      );
      return estimateNetwork(parseRecording(harOf(entries, { onLoad: 4_000 }))).servers[0]!.openingDelayMs;
    };
    expect(over(3_060, 3_060)).toBe(3_000);
    expect(over(3_060, 60)).toBe(0);
  });

  it('may have waited for an address of another family, which shows in TCP and not in TLS', () => {
    const over = (connect: number, ssl: number) => {
      const entries = [OPENING, OPENING].map((opening, index) =>
        chromiumEntry(
          `https://a.test/${index}`,
          0,
          { ...opening, connect, ssl },
          kindOf('image', `${index}`),
        ),
      );
      return estimateNetwork(parseRecording(harOf(entries, { onLoad: 1_000 }))).servers[0]!.openingDelayMs;
    };
    // TCP took 330 ms, TLS 30.
    expect(over(360, 30)).toBe(300);
    // A full queue, and too short a wait.
    expect(over(560, 230)).toBe(0);
    expect(over(160, 30)).toBe(0);
  });

  it('while TLS was negotiated shows a slow server where TCP was not held up', () => {
    const over = (connect: number, ssl: number | undefined, url = 'https://a.test/') => {
      const opening = { ...OPENING, connect, ...(ssl === undefined ? { ssl: -1 } : { ssl }) };
      const own = chromiumEntry(url, 0, opening, kindOf('image', '1'));
      const other = chromiumEntry('https://b.test/', 0, OPENING, kindOf('image', '2'));
      const later = chromiumEntry(url, 900, { wait: 30 }, kindOf('image', '1'));
      const entries = [other, own, later];
      return estimateNetwork(parseRecording(harOf(entries, { onLoad: 1_000 }))).servers[1]!.openingDelayMs;
    };
    // TCP took 30 ms, TLS 130: 100 more than a round trip, 10 of them usual.
    expect(over(160, 130)).toBe(90);
    // Both together, as some recorders write them.
    expect(over(160, undefined)).toBe(90);
    expect(over(160, undefined, 'http://a.test/')).toBe(0);
    // What processors usually take, and a full queue.
    expect(over(80, 50)).toBe(0);
    expect(over(160, 80)).toBe(0);
  });
});

it('slow servers, each of one file, are not taken for losses', () => {
  const ads = Array.from({ length: 20 }, (_, index) =>
    chromiumEntry(
      `https://ad${index}.test/ad.js`,
      700 + 150 * index,
      { ...OPENING, wait: 400, receive: 3 },
      kindOf('script', `ad${index}`),
    ),
  );
  const page = pageWith({}) as { log: { entries: object[] } };
  const images = Array.from({ length: 8 }, (_, index) =>
    chromiumEntry(`https://shop.test/${index}.png`, 200, { wait: 45, receive: 5 }, kindOf('image', '1')),
  );
  page.log.entries.push(...images, ...ads);
  const { path, sources } = networkPosterior(parseRecording(page));
  expect(sources.loss).toBe('assumed');
  expect(path.loss).toBeLessThan(0.001);
});
