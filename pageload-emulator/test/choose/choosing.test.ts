import { type Assignment, emulate, type NetworkPath, PROTOCOLS } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { assign } from '../../src/choose/assign.ts';
import { choicesOf, nearestUniform } from '../../src/choose/choices.ts';
import { choose } from '../../src/choose/choose.ts';
import { isDecided, probabilityOfLeast } from '../../src/choose/confidence.ts';
import { standingOf } from '../../src/decide/standing.ts';
import { pageReasons } from '../../src/explain/page-reasons.ts';
import { english } from '../../src/explain/sentences/english.ts';
import { PaintModel } from '../../src/graph/paint-times.ts';
import { loadTime } from '../../src/scenarios/load-time.ts';
import { LoadTimes } from '../../src/scenarios/load-times.ts';
import type { Question } from '../../src/scenarios/question.ts';
import { SPREADS } from '../../src/scenarios/spread.ts';
import { createRandom, normal } from '../../src/util/random.ts';
import { type GeneratedPage, generatedPage, NETWORKS } from '../support/generated-pages.ts';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';

/** A component of the spread, by its weight. */
function drawSpread(random: () => number) {
  const at = random();
  let sum = 0;
  for (const spread of SPREADS) {
    sum += spread.weight;
    if (at < sum) return spread;
  }
  return SPREADS[0]!;
}

describe('load time', () => {
  it('holds four of five loads that scatter as loads do', () => {
    const random = createRandom(7);
    const emulated = [900, 1_000, 1_050, 1_400];
    const { low, high } = loadTime(emulated);
    const loads = Array.from({ length: 20_000 }, () => {
      const scenario = emulated[Math.floor(random() * emulated.length)]!;
      return scenario * Math.exp(normal(random) * drawSpread(random).deviation);
    });
    const within = loads.filter((load) => load >= low && load <= high).length / loads.length;
    expect(within).toBeGreaterThan(0.79);
    expect(within).toBeLessThan(0.81);
  });

  it('is the emulated time when only one load is possible', () => {
    const { pltMs, low, high } = loadTime([1_234]);
    expect(pltMs).toBe(1_234);
    expect(pltMs / low).toBeCloseTo(high / pltMs, 4);
  });

  it('widens with the scenarios', () => {
    const width = ({ low, high }: { low: number; high: number }) => Math.log(high / low);
    expect(width(loadTime([500, 1_000, 2_000]))).toBeGreaterThan(1.5 * width(loadTime([1_000])));
  });
});

describe('probability of being the fastest', () => {
  it('is even among equals', () => {
    expect(probabilityOfLeast([100], [[100]])).toBeCloseTo(1 / 2, 6);
    expect(probabilityOfLeast([100], [[100], [100]])).toBeCloseTo(1 / 3, 2);
  });

  it('agrees with random draws of the errors', () => {
    const random = createRandom(3);
    const own = [100, 130];
    const rivals = [
      [108, 121],
      [104, 160],
    ];
    let wins = 0;
    const rounds = 20_000;
    for (let round = 0; round < rounds; round++) {
      const at = round % own.length;
      const { deviation } = drawSpread(random);
      const off = (time: number) => time * Math.exp(normal(random) * deviation);
      const time = off(own[at]!);
      if (rivals.every((rival) => off(rival[at]!) > time)) wins++;
    }
    expect(probabilityOfLeast(own, rivals)).toBeCloseTo(wins / rounds, 1.7);
  });

  it('grows with the lead and shrinks with the error', () => {
    const chance = (rival: number, share?: number) => probabilityOfLeast([100], [[rival]], share);
    expect(chance(110)).toBeGreaterThan(chance(105));
    expect(chance(105, 0.5)).toBeGreaterThan(chance(105));
    expect(chance(1_000)).toBeGreaterThan(0.999);
    expect(chance(90)).toBeLessThan(0.5);
  });

  it('decides only together with a noticeable gain', () => {
    expect(isDecided(1_000, 1_200, 0.9)).toBe(true);
    expect(isDecided(1_000, 1_200, 0.7)).toBe(false);
    expect(isDecided(1_000, 1_040, 0.99)).toBe(false);
    expect(isDecided(100, 125, 0.99)).toBe(false);
  });
});

describe('choice', () => {
  // 30 images of 30 kB; UDP is open, or policed to a fraction of the rate in some of the networks.
  const graph = pageOf([
    { bytes: 5_000 },
    ...Array.from({ length: 30 }, () => ({ bytes: 30_000, after: [0] })),
  ]);
  const servers = [serverOf('https://a.test')];
  const open = pathOf({ rttMs: 80, downBps: 20e6 });
  const policed: NetworkPath = { ...open, udp: { kind: 'policed', bps: 2e6 } };
  const choiceWith = (policedOf12: number) => choose(questionWith(policedOf12));
  const questionWith = (policedOf12: number): Question => ({
    graph,
    paint: new PaintModel(
      { requests: [], pltMs: null, firstContentfulPaintMs: null, largestContentfulPaintMs: null },
      graph,
    ),
    path: open,
    servers,
    scenarios: (count) =>
      Array.from({ length: count }, (_, index) => ({
        path: index >= 12 - policedOf12 ? policed : open,
        servers,
        seed: index + 1,
      })),
    seeds: 12,
  });

  it('takes the fastest protocol when every network favours it', () => {
    expect(choiceWith(0)).toMatchObject({ best: 'h3' });
  });

  it('avoids a protocol that may be many times slower, and says so', () => {
    const choice = choiceWith(4);
    const { best, margin, decided, times } = choice;
    const standing = {
      ...standingOf({ best, confidence: choice.confidence, protocols: times }),
      avoidedPolicer: null,
      isUdpShown: true,
    };
    const reasons = pageReasons(questionWith(4), choice, standing, english);
    expect(times.h3!.pltMs).toBeLessThan(times.h2!.pltMs);
    expect(best).toBe('h2');
    expect({ margin, decided }).toEqual({ margin: 0, decided: false });
    expect(reasons).toEqual([
      'HTTP/2 and HTTP/3 usually take about as long, but HTTP/3 may take far longer.',
    ]);
    expect(times.h3!.high).toBeGreaterThan(2 * times.h3!.pltMs);
  });

  it('says where HTTP/3 is only likely to be the fastest that nothing has shown whether UDP passes', () => {
    const choice = choiceWith(0);
    const time = { low: 900, high: 1200 };
    const protocols = { h2: { pltMs: 1200, ...time }, h3: { pltMs: 1000, ...time } };
    const reasonsWhere = (isUdpShown: boolean) => {
      const standing = standingOf({ best: 'h3', confidence: 0.7, protocols });
      return pageReasons(questionWith(0), choice, { ...standing, avoidedPolicer: null, isUdpShown }, english);
    };
    const condition =
      'HTTP/3 is the fastest only if this network lets UDP pass, which nothing has shown yet.';
    expect(reasonsWhere(true)).not.toContain(condition);
    expect(reasonsWhere(false)[0]).toBe(condition);
  });

  it('does not call protocols equal of which the safest is not the fastest', () => {
    const choice = choiceWith(0);
    const time = { low: 900, high: 1200 };
    const protocols = { h2: { pltMs: 1170, ...time }, h3: { pltMs: 1000, ...time } };
    const standing = {
      ...standingOf({ best: 'h2', confidence: 0.5, protocols }),
      avoidedPolicer: null,
      isUdpShown: true,
    };
    expect(pageReasons(questionWith(0), choice, standing, english)).toEqual([]);
  });
});

/** Every assignment of a page, with its load time. */
function* allAssignments(
  { graph, servers }: GeneratedPage,
  path: NetworkPath,
): Generator<[Assignment, number]> {
  const { origins } = graph;
  for (let index = 0; index < PROTOCOLS.length ** origins.length; index++) {
    const assignment = Object.fromEntries(
      origins.map((origin, digit) => [origin, PROTOCOLS[Math.floor(index / 3 ** digit) % 3]!]),
    );
    yield [assignment, emulate(graph, path, servers, assignment, { seed: 1 }).pltMs];
  }
}

function search({ graph, servers }: GeneratedPage, path: NetworkPath, budget = 110) {
  const scenario = { path, servers, seed: 1 };
  const choices = choicesOf(graph, servers, PROTOCOLS);
  const times = new LoadTimes(graph);
  const timeOf = (assignment: Assignment) => times.of(assignment, [scenario])[0]!;
  const starts = PROTOCOLS.map((protocol) => nearestUniform(choices, protocol));
  const assignment = assign(graph, choices, [scenario], starts, times, budget);
  return {
    pltMs: timeOf(assignment),
    uniformMs: Math.min(...starts.map(timeOf)),
    emulations: times.emulations,
  };
}

describe('joint assignment', () => {
  it('comes within 0.3% of the best of all assignments, on the mean of pages and networks', () => {
    const gaps: number[] = [];
    const gains: number[] = [];
    for (let seed = 1; seed <= 8; seed++) {
      const page = generatedPage(seed, 2 + (seed % 4), 40);
      for (const path of [NETWORKS.cable!, NETWORKS.slow!, NETWORKS.policed!]) {
        const { pltMs, uniformMs } = search(page, path);
        const best = Math.min(...[...allAssignments(page, path)].map(([, time]) => time));
        gaps.push(pltMs / best - 1);
        gains.push(1 - best / uniformMs);
      }
    }
    const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    expect(mean(gaps)).toBeLessThan(0.003);
    // The search has something to gain.
    expect(mean(gains)).toBeGreaterThan(0.01);
  });

  it('stays within its budget', () => {
    const page = generatedPage(5, 20, 120);
    const { emulations, pltMs, uniformMs } = search(page, NETWORKS.cable!, 60);
    expect(emulations).toBeLessThanOrEqual(63);
    expect(pltMs).toBeLessThanOrEqual(uniformMs);
  });

  it('does not depend on the names of origins', () => {
    const page = generatedPage(3, 5, 50);
    const rename = (origin: string) => origin.replace('origin', 'renamed');
    const renamed: GeneratedPage = {
      graph: { ...page.graph, origins: page.graph.origins.map(rename) },
      servers: page.servers.map((server) => ({ ...server, origin: rename(server.origin) })),
    };
    expect(search(renamed, NETWORKS.lossy!).pltMs).toBe(search(page, NETWORKS.lossy!).pltMs);
  });
});
