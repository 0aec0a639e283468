/** What the panel writes is read back as what it was. */
import { NO_PHASES, type RecordedRequest, type Recording } from '@hopwise/contract';
import { parseRecording, predict, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, test } from 'vitest';
import { writeHar } from '../../../src/devtools/files/write-har.ts';
import { writeMarkdown } from '../../../src/devtools/files/write-markdown.ts';
import { english } from '../../../src/language/english.ts';
import { german } from '../../../src/language/german.ts';
import { useLanguage } from '../../../src/language/translate.ts';
import { requestOf } from '../../evidence/stored-loads.ts';
import { largePage } from '../../support/large-page.ts';

const initiator = (kind: RecordedRequest['initiator']['kind'], requestId: number | null) => ({
  kind,
  requestId,
  source: 'recorded' as const,
});

/** A redirect, a document with a handshake, and requests with all that a recording can state of them. */
const REQUESTS: RecordedRequest[] = [
  requestOf(0, {
    url: 'http://page.test/',
    status: 301,
    endMs: 40.25,
    protocol: 'h1',
    phases: { ...NO_PHASES, requestStartMs: 0, responseStartMs: 40 },
  }),
  requestOf(1, {
    url: 'https://page.test/?q=1',
    type: 'document',
    startMs: 40.5,
    endMs: 220.75,
    phases: {
      dnsStartMs: 41,
      dnsEndMs: 51,
      connectStartMs: 51,
      secureStartMs: 81,
      connectEndMs: 111,
      requestStartMs: 111,
      responseStartMs: 180.5,
    },
    initiator: initiator('redirect', 0),
    connectionId: '17',
    remoteIp: '2001:db8::1',
    urgency: 0,
    offersH3: true,
  }),
  requestOf(2, {
    url: 'https://page.test/a.js',
    type: 'script',
    startMs: 181,
    endMs: 260,
    phases: { ...NO_PHASES, requestStartMs: 190, responseStartMs: 230 },
    initiator: initiator('parser', 1),
    renderBlocking: true,
    urgency: 1,
    protocol: 'h3',
  }),
  requestOf(3, {
    url: 'https://cdn.test/withheld.png',
    startMs: 262.125,
    endMs: 300,
    phases: NO_PHASES,
    transferBytes: null,
    bodyBytes: null,
    decodedBytes: null,
    protocol: null,
    initiator: initiator('script', 2),
    urgency: 3,
  }),
  requestOf(4, {
    url: 'https://cdn.test/cached.css',
    type: 'style',
    startMs: 263,
    endMs: 264,
    phases: NO_PHASES,
    transferBytes: 0,
    bodyBytes: 0,
    protocol: null,
    fromCache: true,
    remoteIp: null,
    initiator: initiator('preload', 1),
  }),
  requestOf(5, {
    url: 'https://cdn.test/font.woff2',
    type: 'font',
    startMs: 264,
    endMs: 330,
    phases: { ...NO_PHASES, requestStartMs: 264, responseStartMs: 310 },
    initiator: initiator('style', 4),
    method: 'GET',
    requestBodyBytes: 20_000,
    requestBodyMs: 30,
  }),
];

const RECORDING: Recording = {
  format: 'hopwise-recording',
  version: 1,
  url: 'https://page.test/?q=1',
  recordedAt: '2026-11-20T12:00:00.000Z',
  browser: 'Firefox 142.0',
  pltMs: 340.5,
  domContentLoadedMs: 270,
  firstContentfulPaintMs: 280,
  largestContentfulPaintMs: 320,
  requests: REQUESTS,
};

const readBack = (recording: Recording) => parseRecording(JSON.stringify(writeHar(recording, '0.1.0')));

describe('writeHar', () => {
  const read = readBack(RECORDING);

  test('keeps the page', () => {
    const { requests: _requests, ...page } = RECORDING;
    expect(read).toMatchObject(page);
  });

  test('keeps each request, with starts to the millisecond and all other times exactly', () => {
    expect(read.requests).toHaveLength(REQUESTS.length);
    for (const [index, request] of REQUESTS.entries()) {
      const { startMs, phases, requestBodyBytes, urgency, offersH3, initiator, ...same } = request;
      const own = read.requests[index]!;
      expect(own).toMatchObject(same);
      expect(own.startMs).toBe(Math.floor(startMs));
      expect(own.urgency).toBe(urgency ?? null);
      // HAR has no field for it: only an offer is written.
      expect(own.offersH3).toBe(offersH3 ? true : null);
      expect(own.initiator).toEqual(initiator);
      if (request.fromCache) continue;
      for (const phase of ['dnsStartMs', 'connectEndMs', 'secureStartMs', 'responseStartMs'] as const) {
        if (phases[phase] === null) expect(own.phases[phase]).toBeNull();
        else expect(own.phases[phase]).toBeCloseTo(phases[phase], 6);
      }
    }
  });

  test('marks the initiators that the browser did not report', () => {
    const inferred = structuredClone(RECORDING);
    inferred.requests[3]!.initiator.source = 'inferred';
    const { entries } = (writeHar(inferred, '0.1.0') as { log: { entries: { _initiator?: object }[] } }).log;
    expect(entries.map(({ _initiator }) => _initiator && '_inferred' in _initiator)).toEqual([
      undefined,
      undefined,
      false,
      true,
      false,
      false,
    ]);
  });

  test('a page of 300 requests is predicted as from the recording', () => {
    const page = largePage(300);
    const [own, fromHar] = [predict(page), predict(readBack(page))];
    for (const protocol of ['h1', 'h2', 'h3'] as const) {
      const [a, b] = [own.protocols[protocol], fromHar.protocols[protocol]];
      if (!('pltMs' in a && 'pltMs' in b)) throw new Error(`${protocol} has no time`);
      expect(Math.abs(b.pltMs / a.pltMs - 1)).toBeLessThan(0.01);
    }
  });

  test('a recording without a date begins in 1970', () => {
    expect(readBack({ ...RECORDING, recordedAt: '' }).recordedAt).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('writeMarkdown', () => {
  const prediction = predict(RECORDING);
  const load = {
    recording: RECORDING,
    prediction,
    verifiedPrediction: null,
    verification: null,
    problem: '',
  };

  test('has the verdict, the load times, the origins and the network', () => {
    const text = writeMarkdown(load);
    expect(text.split('\n').filter((line) => line.startsWith('#'))).toEqual([
      '# https://page.test/?q=1',
      '## Load time',
      '## Origins',
      '## Network',
    ]);
    expect(text).toContain(`**${prediction.decision.verdict}.**`);
    expect(text).toMatch(/^\| HTTP\/3 \| .* \|$/m);
    expect(text).toMatch(/^\| Round trip \| \d+ ms \| \w+ \|$/m);
  });

  test('says in German at how many of the origins nothing is worth changing', () => {
    const origins = prediction.origins.map((origin) => ({ ...origin, decided: false }));
    useLanguage('de', german);
    const text = writeMarkdown({ ...load, prediction: { ...prediction, origins } });
    useLanguage('en', english);
    expect(text).toContain(`Bei keinem von ${origins.length} Ursprüngen lohnt sich eine Änderung.`);
  });

  test('gives a range only where its ends differ', () => {
    const { decision } = prediction;
    const time = { pltMs: 2600, low: 2600, high: 2600 };
    const same = { ...decision, protocols: { ...decision.protocols, h2: { ...time } } };
    const text = writeMarkdown({
      ...load,
      prediction: {
        ...prediction,
        decision: same,
        protocols: { ...prediction.protocols, h2: { ...prediction.protocols.h2, ...time } },
      },
    });
    expect(text).toMatch(/^\| HTTP\/2 \| 2\.6 s \|$/m);
    expect(text).toMatch(/^Recorded 2026/m);
  });

  test('explains what later visits are where they have a time of their own', () => {
    const note =
      /^Once HTTP\/3 is known: a later visit, when the browser remembers which servers offer HTTP\/3\.$/m;
    const withLater = (laterPltMs: number) => {
      const { decision } = prediction;
      const baseline = { ...decision.baseline, pltMs: 2400, laterPltMs };
      return writeMarkdown({ ...load, prediction: { ...prediction, decision: { ...decision, baseline } } });
    };
    expect(withLater(1200)).toMatch(/^\| Once HTTP\/3 is known \| 1\.2 s \|$/m);
    expect(withLater(1200)).toMatch(note);
    expect(withLater(2400)).not.toMatch(note);
  });

  test('states what pins have gained before what the prediction says', () => {
    const pinGain = {
      beforeMs: 24_600,
      afterMs: 5200,
      beforeLoads: 2,
      afterLoads: 1,
      savedMs: { low: 15_000, high: 21_000 },
      effect: 'gains' as const,
    };
    expect(writeMarkdown(load, pinGain)).toContain('**5× faster: 25 s → 5.2 s, measured.**');
  });

  test('a URL is no markup', () => {
    const url = 'https://page.test/?<img src=x>|[a](b)`c`\n# d';
    const text = writeMarkdown({
      ...load,
      prediction: null,
      recording: { ...RECORDING, url },
      problem: 'none',
    });
    expect(text.split('\n')[0]).toBe('# https://page.test/?\\<img src=x\\>\\|\\[a\\](b)\\`c\\` \\# d');
  });
});

test('an exported load is read with its recording', () => {
  const file = JSON.stringify({
    format: 'hopwise-load',
    version: 1,
    recording: RECORDING,
    verification: null,
  });
  expect(readRecording(file).recording.requests).toHaveLength(REQUESTS.length);
});
