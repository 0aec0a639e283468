import {
  type Action,
  type Decision,
  type FetchActivity,
  type PageGraph,
  PROTOCOLS,
  type Protocol,
  predict,
  type Recording,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

// Where a queue overflows, it depends on a millisecond whether a timer of a second has to repair the loss: this one is deep.
const PATH = pathOf({ rttMs: 60, downBps: 20e6, queueBytes: 1_000_000 });

interface Page {
  graph: PageGraph;
  servers: ServerProfile[];
}

const pageOf = (seed: number): Page => {
  const graph = randomPage(seed);
  return { graph, servers: randomServers(graph, seed) };
};

/** The page with another server time of one request, before its response or in it. */
function withServerTime(
  { graph, servers }: Page,
  id: number,
  time: Pick<FetchActivity, 'thinkMs' | 'bodyMs'>,
): Page {
  const activities = graph.activities.map((each) =>
    each.id === id && each.kind === 'fetch' ? { ...each, ...time } : each,
  );
  return { graph: { ...graph, activities }, servers };
}

/** The page as it loads over one protocol. */
function loadOver({ graph, servers }: Page, protocol: Protocol): Recording {
  const assignment = Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
  return recordLoad(graph, PATH, servers, assignment);
}

/** The decision on the page recorded over HTTP/2. */
function decisionOn(page: Page): Decision {
  const { lossBurst: _, ...network } = PATH;
  return predict(loadOver(page, 'h2'), { network }).decision;
}

const timeOf = ({ protocols }: Decision, protocol: Protocol): number => protocols[protocol]!.pltMs;

const seeds = fc.integer({ min: 1, max: 500 });

describe('the time of servers', () => {
  it.each([
    ['before the document', (ms: number) => ({ thinkMs: 10 + ms })],
    // The network alone may take half a second for the larger documents.
    ['in the document', (ms: number) => ({ thinkMs: 10, bodyMs: 1_500 + ms })],
  ])('%s adds itself to every protocol, and changes no action', (_, timeOfMs) => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 40 }), (seed, seconds) => {
        const fast = withServerTime(pageOf(seed), 0, timeOfMs(0));
        const slow = withServerTime(pageOf(seed), 0, timeOfMs(1000 * seconds));
        const before = decisionOn(fast);
        const after = decisionOn(slow);
        for (const protocol of PROTOCOLS) {
          const addedMs = timeOf(after, protocol) - timeOf(before, protocol);
          const trulyMs = loadOver(slow, protocol).pltMs! - loadOver(fast, protocol).pltMs!;
          expect(Math.abs(addedMs - trulyMs)).toBeLessThan(100 * seconds);
        }
        // What gained enough of a short load may be too little of a long one; nothing else may come instead.
        if (after.action.kind !== 'leave') expect(after.action.kind).toBe(before.action.kind);
        expect(after.action.gainMs).toBeLessThanOrEqual(before.action.gainMs + 150);
      }),
      { numRuns: countRuns(6, 40), seed: 1 },
    );
  });

  it('of what the load event does not wait for changes nothing', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 40 }), (seed, choice) => {
        const page = pageOf(seed);
        const { pltMs, requests } = loadOver(page, 'h2');
        const id = 1 + (choice % (page.graph.activities.length - 1));
        const spareMs = pltMs! - requests.find((request) => request.id === id)!.endMs;
        const slowed = withServerTime(page, id, { thinkMs: 8 + 0.3 * spareMs });
        // Under another protocol it may be what the load event waits for.
        const isSpared = PROTOCOLS.every(
          (protocol) => Math.abs(loadOver(slowed, protocol).pltMs! - loadOver(page, protocol).pltMs!) < 1,
        );
        fc.pre(isSpared && spareMs > 20);
        const before = decisionOn(page);
        const after = decisionOn(slowed);
        // Where an action nearly reaches the chance of 0.8 at which it is taken, a millisecond decides.
        const isNear = before.actions.some(({ helps }) => Math.abs(helps - 0.8) < 0.1);
        if (!isNear) expect(after.action.kind).toBe(before.action.kind);
        // The search for mixes may find others; what both consider gains the same.
        const keyOf = ({ kind, assignment }: Action) => JSON.stringify([kind, assignment]);
        const gains = new Map(after.actions.map((each) => [keyOf(each), each.gain]));
        for (const each of before.actions) {
          const gain = gains.get(keyOf(each)) ?? each.gain;
          expect(Math.abs(gain - each.gain)).toBeLessThan(0.05);
        }
        for (const protocol of PROTOCOLS) {
          const change = timeOf(after, protocol) / timeOf(before, protocol) - 1;
          expect(Math.abs(change)).toBeLessThan(0.1);
        }
      }),
      { numRuns: countRuns(4, 40), seed: 1 },
    );
  });

  it('scaled everywhere moves the protocols apart by no more than it truly does', () => {
    fc.assert(
      fc.property(seeds, fc.double({ min: 1, max: 20, noNaN: true }), (seed, factor) => {
        const page = pageOf(seed);
        const servers = page.servers.map((server) => ({ ...server, thinkMs: factor * server.thinkMs }));
        const scaled = { ...page, servers };
        const before = decisionOn(page);
        const after = decisionOn(scaled);
        const ownMs = Math.min(...PROTOCOLS.map((protocol) => timeOf(before, protocol)));
        for (const protocol of ['h1', 'h3'] as const) {
          const apartMs = (decision: Decision) => timeOf(decision, protocol) - timeOf(decision, 'h2');
          const trulyApartMs = (each: Page) => loadOver(each, protocol).pltMs! - loadOver(each, 'h2').pltMs!;
          const movedMs = apartMs(after) - apartMs(before);
          // Requests that wait for one of six connections wait for the servers ahead of them, too.
          const trulyMs = trulyApartMs(scaled) - trulyApartMs(page);
          expect(movedMs).toBeLessThan(Math.max(0, trulyMs) + 0.15 * ownMs);
          expect(movedMs).toBeGreaterThan(Math.min(0, trulyMs) - 0.15 * ownMs);
        }
      }),
      { numRuns: countRuns(6, 40), seed: 1 },
    );
  });
});
