import {
  EmulationError,
  emulate,
  explain,
  type KnownNetwork,
  parseRecording,
  predict,
  type Recording,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns, drawShare } from '../../scripts/suites/draw-share.ts';
import { choose } from '../src/choose/choose.ts';
import { pageQuestion } from '../src/predict.ts';
import { chromiumEntry, harOf } from './support/hars.ts';
import { pageOf, pathOf, serverOf } from './support/pages.ts';

/** A document and images on some origins, of growing size; otherwise like a recording by Chromium. */
function pageWith(requests: number, origins: number, bytes = 5_000): Recording {
  const document = { _initiator: { type: 'other' }, _resourceType: 'document', _connectionId: '0' };
  const connecting = { dns: 5, connect: 60, ssl: 30 };
  const entries = Array.from({ length: requests }, (_, index) => {
    const origin = index % origins;
    const sized = { httpVersion: 'h2', status: 200, headers: [], _transferSize: bytes + index };
    const image = { _initiator: { type: 'parser', url: 'https://0.test/0' }, _resourceType: 'image' };
    return chromiumEntry(
      `https://${origin}.test/${index}`,
      Math.floor((2_000 * index) / requests),
      index < origins ? connecting : {},
      { ...(index === 0 ? document : { ...image, _connectionId: String(origin) }), response: sized },
    );
  });
  return parseRecording(harOf(entries, { onLoad: 2_500, onContentLoad: 1_000 }));
}

/** The ranges of the command's flags. */
const NETWORK: fc.Arbitrary<KnownNetwork> = fc.record(
  {
    rttMs: fc.constantFrom(0, 0.001, 30, 1_000, 60_000),
    downBps: fc.constantFrom(1e4, 1e6, 1e8, 1e11),
    upBps: fc.constantFrom(1e4, 1e6, 1e11),
    loss: fc.constantFrom(0, 1e-4, 0.03, 0.2, 0.5),
    queueBytes: fc.constantFrom(0, 1e5, 1e12),
    udp: fc.constantFrom<NonNullable<KnownNetwork['udp']>>(
      { kind: 'open' },
      { kind: 'blocked' },
      { kind: 'policed', bps: 1e4 },
      { kind: 'policed', bps: 1e11 },
    ),
  },
  { requiredKeys: [] },
);

/** The budget, and loads that are made even when it is spent, each of which ends or is abandoned. */
const MAX_EVENTS = 2_500_000 + 5 * 300_000;

function eventsOf(recording: Recording, network: KnownNetwork): number {
  const { question } = pageQuestion(recording, { network, thorough: true });
  return choose({ ...question, thorough: true }).events;
}

describe('a prediction ends', () => {
  const REQUESTS = 10_000;

  it.each(drawShare([1, REQUESTS], 1))('of 10,000 requests to %i origins', (origins) => {
    expect(eventsOf(pageWith(REQUESTS, origins), {})).toBeLessThan(MAX_EVENTS);
  });

  const pages = [pageWith(5, 2, 30e6), pageWith(50, 10, 1e6), pageWith(150, 150)];

  it('on every network that the command accepts, with an answer or a refusal of one line', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pages), NETWORK, (page, network) => {
        try {
          expect(eventsOf(page, network)).toBeLessThan(MAX_EVENTS);
        } catch (error) {
          if (!(error instanceof EmulationError)) throw error;
          expect(error.message).toMatch(/^the page does not load on this network.*$/);
        }
      }),
      { numRuns: countRuns(3, 12) },
    );
  });

  it('with a refusal when nearly everything is lost', () => {
    const [, page] = pages;
    for (const ask of [predict, explain]) {
      expect(() => ask(page!, { network: { loss: 0.99 } })).toThrow(
        /^the page does not load on this network: no load event after \d+ s$/,
      );
    }
    expect(() => predict(page!, { network: { loss: 0.99 }, language: 'de' })).toThrow(
      /^die Seite lädt in diesem Netz nicht: kein Load-Event nach \d+ s$/,
    );
  });
});

describe('a page that is expensive to emulate', () => {
  const page = pageWith(800, 400);
  const asked = () => ({ ...predict(page, { thorough: true }), elapsedMs: 0 });
  const prediction = asked();

  const tests = {
    'has the same prediction each time': () => expect(asked()).toEqual(prediction),

    'says what was left out: origins that move few bytes': () => {
      const { notes, origins } = prediction;
      const untried = origins.filter(({ reason }) => reason.startsWith('Nothing else was tried'));
      expect(untried.length).toBeGreaterThan(0);
      expect(untried.length).toBeLessThan(origins.length);
      const tried = origins.filter(({ pltMs }) => Object.keys(pltMs).length > 1);
      const heaviestUntried = Math.max(...untried.map(({ bytes }) => bytes));
      for (const { bytes } of tried) expect(bytes).toBeGreaterThanOrEqual(heaviestUntried);
      expect(notes).toContain(
        `Other protocols were not tried for ${untried.length} origins, those that move fewest bytes.`,
      );
      expect(explain(page, { thorough: true }).notes).toEqual(notes);
    },
  };

  it.each(drawShare(Object.entries(tests), 1, ([name]) => name))('%s', (_, test) => test());
});

it('leaves nothing out of a usual page', () => {
  expect(predict(pageWith(200, 20), { thorough: true }).notes).toEqual([]);
});

it('excludes a protocol that does not load the page, and chooses another', () => {
  const network: KnownNetwork = { udp: { kind: 'policed', bps: 1e4 }, downBps: 20e6, loss: 0, rttMs: 30 };
  const { protocols, best, assignment } = predict(pageWith(300, 2, 20_000), { network });
  expect(protocols.h3).toEqual({
    unavailable: expect.stringMatching(/^the page does not load on this network/),
  });
  expect(protocols.h2).toMatchObject({ pltMs: expect.any(Number) });
  expect(best).not.toBe('h3');
  expect(Object.values(assignment)).not.toContain('h3');
});

it('is sure of the only protocol that loads the page', () => {
  const servers = [{ origin: 'https://0.test', offers: { h1: true, h2: true, h3: true } }];
  const prediction = predict(pageWith(30, 1, 400_000), { network: { loss: 0.95 }, servers });
  expect(prediction).toMatchObject({
    best: 'h3',
    decided: true,
    margin: 1,
    reasons: ['Only HTTP/3 loads the page on this network.'],
    assignment: { 'https://0.test': 'h3' },
  });
});

describe('a load that takes too many events', () => {
  const graph = pageOf([{ bytes: 10_000 }, { bytes: 1e6, after: [0] }]);
  const servers = [serverOf('https://a.test')];
  const path = pathOf();
  const whole = emulate(graph, path, servers, {}, { waterfall: true });

  it('is abandoned before its load event', () => {
    const ask = () => emulate(graph, path, servers, {}, { maxEvents: whole.events - 1 });
    expect(ask).toThrow('the page does not load on this network: no load event after 1 s');
  });

  it('is cut off after its load event', () => {
    graph.activities[1]!.blocksLoad = false;
    const later = structuredClone(graph);
    const maxEvents = Math.floor(whole.events / 2);
    const { pltMs, entries } = emulate(later, path, servers, {}, { waterfall: true, maxEvents });
    expect(pltMs).toBe(whole.entries[0]!.endMs);
    expect(entries[1]!.endMs).toBeGreaterThan(pltMs);
    expect(entries[1]!.endMs).toBeLessThan(whole.pltMs);
  });
});
