import type { KnownPage, KnownRequest } from '@hopwise/lab/gauntlet/known-pages';
import { describe, expect, it } from 'vitest';
import type { CellLoads } from '../../../../lab/src/judge/cell-loads.ts';
import { recordingOf } from '../../../../lab/test/support/recordings.ts';
import { scoreGraph } from '../../../src/accuracy/readings/known-graph.ts';
import { floorOf, regretOnOne } from '../../../src/accuracy/readings/noise.ts';
import { type RuleRegret, readingFigures } from '../../../src/accuracy/readings/reading-figures.ts';
import { renderReadings } from '../../../src/accuracy/readings/reading-table.ts';
import { writtenBy } from '../../../src/accuracy/readings/recorders.ts';
import { dependenciesOf, likeness } from '../../../src/accuracy/readings/same-reading.ts';
import type { ReadingScore } from '../../../src/accuracy/readings/score-cell.ts';
import { truePage } from '../../../src/accuracy/readings/true-graph.ts';

const WWW = 'https://www.page.test';
const request = (
  path: string,
  type: string,
  parent: string | null,
  own: Partial<KnownRequest> = {},
): KnownRequest => ({
  url: WWW + path,
  type,
  parent: parent === null ? null : WWW + parent,
  means: parent === null ? 'navigation' : 'markup',
  blockers: [],
  delayMs: 0,
  busyMs: 0,
  thinkMs: 0,
  bytes: 1000,
  ...own,
});

const known: KnownPage = {
  family: 'tiny',
  cpuSlowdown: 1,
  origins: [{ origin: WWW, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
  requests: [
    request('/', 'document', null),
    request('/app.js', 'script', '/'),
    request('/api', 'fetch', '/app.js', { means: 'script', thinkMs: 200 }),
    request('/late.png', 'image', '/api', { means: 'answer' }),
  ],
};

/** The script runs right after it has arrived at 150; its fetch takes a round trip of 40 and waits for 200. */
const recorded = (late: ['script' | 'parser', number]) =>
  recordingOf(
    [
      {
        url: `${WWW}/`,
        type: 'document',
        startMs: 0,
        endMs: 125,
        phases: {
          connectStartMs: 0,
          secureStartMs: 40,
          connectEndMs: 80,
          requestStartMs: 80,
          responseStartMs: 120,
        },
      },
      {
        url: `${WWW}/app.js`,
        type: 'script',
        startMs: 105,
        endMs: 150,
        by: ['parser', 0],
        phases: { responseStartMs: 146 },
      },
      {
        url: `${WWW}/api`,
        type: 'fetch',
        startMs: 152,
        endMs: 394,
        by: ['script', 1],
        phases: { responseStartMs: 392 },
      },
      {
        url: `${WWW}/late.png`,
        type: 'image',
        startMs: 395,
        endMs: 440,
        by: late,
        phases: { responseStartMs: 436 },
      },
    ],
    450,
  );

describe('scoreGraph', () => {
  it('finds the parents that the recording states', () => {
    const { parents, dependencies } = scoreGraph(recorded(['script', 2]), known);
    expect(parents.markup).toEqual({ requests: 1, found: 1 });
    expect(parents.script).toEqual({ requests: 1, found: 1 });
    expect(parents.answer).toEqual({ requests: 1, found: 1 });
    expect(dependencies.right).toBe(dependencies.stated);
  });

  it('counts a server time within 20% or 10 ms as right', () => {
    // 240 ms of waiting less a round trip of 40; twice as much is wrong.
    expect(scoreGraph(recorded(['script', 2]), known).thinkTimes).toEqual({ stated: 4, right: 4 });
    const slower = known.requests.map((each) => (each.type === 'fetch' ? { ...each, thinkMs: 400 } : each));
    expect(scoreGraph(recorded(['script', 2]), { ...known, requests: slower }).thinkTimes).toEqual({
      stated: 4,
      right: 3,
    });
  });

  it('counts a missed parent and a false dependency', () => {
    // The recording states that the fetch led to the image; in truth the parser found it.
    const other = known.requests.map((each) =>
      each.type === 'image' ? { ...each, parent: `${WWW}/`, means: 'markup' as const } : each,
    );
    const { parents, dependencies } = scoreGraph(recorded(['script', 2]), { ...known, requests: other });
    expect(parents.markup).toEqual({ requests: 2, found: 1 });
    expect(dependencies.stated - dependencies.right).toBe(1);
  });
});

describe('writtenBy', () => {
  const original = recorded(['script', 2]);

  it.each(['devtools', 'chrome-har'] as const)('%s keeps times to a millisecond, and causes', (recorder) => {
    const { requests, pltMs } = writtenBy(recorder, original);
    expect(pltMs).toBe(450);
    for (const [id, { startMs, endMs, phases, initiator }] of requests.entries()) {
      const own = original.requests[id]!;
      expect(Math.abs(startMs - own.startMs)).toBeLessThanOrEqual(1);
      expect(Math.abs(endMs - own.endMs)).toBeLessThanOrEqual(1);
      expect(Math.abs(phases.responseStartMs! - own.phases.responseStartMs!)).toBeLessThanOrEqual(1);
      expect(initiator.requestId).toBe(own.initiator.requestId);
    }
    expect(likeness(dependenciesOf(original), dependenciesOf(writtenBy(recorder, original)))).toBe(1);
  });

  it('devtools keeps a wait between connection and dispatch, which chrome-har leaves out', () => {
    const [document, ...others] = original.requests;
    // Ready at 80, sent at 95.
    const phases = { ...document!.phases, requestStartMs: 95 };
    const waiting = { ...original, requests: [{ ...document!, phases }, ...others] };
    const read = (recorder: 'devtools' | 'chrome-har') => writtenBy(recorder, waiting).requests[0]!;
    expect(read('devtools').phases).toMatchObject({ requestStartMs: 95, responseStartMs: 120 });
    expect(read('devtools').endMs).toBe(125);
    expect(read('chrome-har').phases).toMatchObject({ requestStartMs: 80, responseStartMs: 105 });
    expect(read('chrome-har').endMs).toBe(110);
  });

  it('resource-timing lacks what only the network stack knows', () => {
    const [, script] = writtenBy('resource-timing', original).requests;
    expect(script).toMatchObject({ connectionId: null, urgency: null, initiator: { requestId: null } });
  });
});

describe('likeness', () => {
  it('is the share of what is in both', () => {
    // b and c of a, b, c, d.
    expect(likeness(new Set(['a', 'b', 'c']), new Set(['b', 'c', 'd']))).toBe(0.5);
    expect(likeness(new Set(), new Set())).toBe(1);
  });
});

describe('truePage', () => {
  it('has the true causes and times', () => {
    const { graph, servers } = truePage(recorded(['parser', 0]), known);
    const late = graph.activities.find((each) => each.kind === 'fetch' && each.url.endsWith('late.png'))!;
    const [edge] = late.after;
    expect(graph.activities[edge!.activity]).toMatchObject({
      kind: 'fetch',
      url: `${WWW}/api`,
      thinkMs: 200,
    });
    expect(servers[0]).toMatchObject({
      extraRttMs: 0,
      thinkMs: 0,
      tcp: { initialWindow: 10, congestionControl: 'cubic' },
    });
  });
});

const score = (more: Partial<ReadingScore>): ReadingScore => ({
  page: 'a',
  network: 'n1',
  from: 'h2',
  udp: 'open',
  errors: { true: {}, given: { h1: 0.1, h2: -0.2, h3: 0.4 }, udp: {}, estimated: {} },
  ranges: {
    given: { loads: 10, within: 8 },
    udp: { loads: 0, within: 0 },
    estimated: { loads: 0, within: 0 },
  },
  regret: { true: null, given: { overall: 0.1, perSeed: 0.2 }, udp: null, estimated: null },
  decisionRegret: { given: { overall: 0, perSeed: 0.1 }, udp: null, estimated: null },
  ruleRegret: { overall: 0.1, perSeed: 0.2 },
  figures: { loss: true },
  reproduced: null,
  graph: null,
  recorders: {},
  onThirdMs: { h2: 1000 },
  ...more,
});

describe('floorOf', () => {
  const times = (own: number[]) => new Map(own.map((time, index) => [index + 1, time]));
  const loads = {
    seeds: [1, 2, 3],
    pltMs: new Map([
      ['h2', times([100, 110, 90])],
      ['h3', times([120, 95, 80])],
    ]),
    missing: new Map(),
    assigned: [],
  } as unknown as CellLoads;

  it('judges on each seed what the others choose', () => {
    // Without seed 1: 100 and 87.5, so h3, which took 120 instead of 100. Without 2: 95 and 100, h2, 110 instead of 95.
    // Without 3: 105 and 107.5, h2, 90 instead of 80.
    expect(floorOf(loads)).toBeCloseTo((120 / 100 - 1 + 110 / 95 - 1 + 90 / 80 - 1) / 3);
    // h2 is the fastest under seed 1.
    expect(regretOnOne(loads, 'h2')).toBeCloseTo((0 + 110 / 95 - 1 + 90 / 80 - 1) / 3);
  });
});

describe('readingFigures', () => {
  const rules: RuleRegret[] = [
    { rule: 'alwaysH2', page: 'a', network: 'n1', regret: { overall: 0.3, perSeed: 0.4 } },
    { rule: 'alwaysH2', page: 'a', network: 'n2', regret: null },
  ];
  const figures = readingFigures(
    [
      score({}),
      score({
        network: 'n2',
        onThirdMs: { h2: 1090 },
        regret: { true: null, given: { overall: 0.3, perSeed: 0.3 }, udp: null, estimated: null },
      }),
      score({
        page: 'b',
        udp: 'policed',
        errors: { true: {}, given: { h1: 3 }, udp: {}, estimated: {} },
        figures: { loss: false },
      }),
      score({ page: 'b', network: 'n2', from: 'h3', onThirdMs: { h2: 2000 } }),
    ],
    rules,
    [
      { isLossy: false, floor: 0.01, spreads: [0.02, 0.03, 0.1] },
      { isLossy: true, floor: 0.03, spreads: [0.2] },
    ],
  );

  it('has the errors by recorded protocol, policed networks apart', () => {
    // The errors are 0.1, −0.2 and 0.4, twice.
    expect(figures.cross.given.other?.h2).toMatchObject({ predictions: 6, median: 0.2, bias: 0.1 });
    expect(figures.cross.given.policed?.h2).toEqual({ predictions: 1, median: 3, p90: 3, bias: 3 });
    expect(figures.cross.estimated.other).toEqual({});
  });

  it('compares predictions from two networks for a third, under the same protocol', () => {
    // 1000 and 1090 ms of page a; page b has one recording under each protocol.
    expect(figures.invariance).toEqual({ of: 1, share: 1 });
  });

  it('has shares over loads and recordings', () => {
    expect(figures.ranges.given).toEqual({ of: 40, share: 0.8 });
    expect(figures.ranges.udp).toBeNull();
    expect(figures.networkRanges.loss).toEqual({ of: 4, share: 0.75 });
  });

  it('has the mean regret over cells', () => {
    // 0.1 and 0.3 of page a, 0.1 of page b.
    expect(figures.regret.given.h2?.mean).toBeCloseTo(0.5 / 3);
    expect(figures.regret.given.h2?.cells).toBe(3);
    expect(figures.decisionRegret.given.h2).toMatchObject({
      mean: 0,
      perSeed: expect.closeTo(0.1),
      cells: 3,
    });
    expect(figures.ruleRegret.h2).toMatchObject({
      mean: expect.closeTo(0.1),
      perSeed: expect.closeTo(0.2),
      cells: 3,
    });
    expect(figures.regret.given.h2?.interval).toBeNull();
    expect(figures.rules.alwaysH2).toMatchObject({ cells: 1, mean: 0.3, perSeed: 0.4 });
  });

  it('has the noise of the cells', () => {
    expect(figures.noise).toEqual({ floor: 0.02, spread: { lossless: 0.03, lossy: 0.2 } });
  });

  it('prints what there is', () => {
    const text = renderReadings(figures);
    expect(text).toContain('4 recordings of 2 pages in 4 cells');
    expect(text).toMatch(/loads within their 80% ranges, network given +80\.0% +40/);
    expect(text).not.toContain('true parent');
  });
});
