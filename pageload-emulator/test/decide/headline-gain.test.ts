import {
  type Action,
  type Assignment,
  type Decision,
  median,
  PROTOCOLS,
  type Recording,
} from '@hopwise/contract';
import { emulate, predict, readPage } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { unknownBefore } from '../../src/emulate/browser-assignment.ts';
import { timeByItself } from '../../src/explain/verdict.ts';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

/** A page recorded over HTTP/2 that took other times than its network explains. @param offersH3 whether all origins announce HTTP/3 */
function misfitting(seed: number, factor: number, offersH3: boolean): Recording {
  const graph = randomPage(seed);
  const overH2 = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
  const path = pathOf({ rttMs: 20 + (seed % 7) * 30, downBps: 2e6 * (1 + (seed % 11)) });
  const recording = recordLoad(graph, path, randomServers(graph, seed), overH2, seed);
  return {
    ...recording,
    pltMs: recording.pltMs! * factor,
    requests: recording.requests.map((request) => ({ ...request, offersH3 })),
  };
}

/** The largest of the gains that the verdict could state. */
const headlined = ({ actions }: Decision): Action[] => actions.filter(({ gainMs }) => gainMs > 0);

/** What actions gain in the emulation on the likeliest network alone. */
function likeliestGains(recording: Recording, { baseline }: Decision): (action: Action) => number {
  const {
    graph,
    network: { path, servers },
  } = readPage(recording);
  const loadMs = (assignment: Assignment, met = servers) =>
    emulate(graph, path, met, assignment, { seed: 1 }).pltMs;
  const own = baseline.visit === 'first' ? servers.map(unknownBefore) : servers;
  const ownMs = loadMs(baseline.protocols, own);
  return ({ assignment }) => ownMs - loadMs(assignment);
}

describe('the gain of a headline', () => {
  it('never exceeds the emulated one where nothing is measured, however wrong the emulation is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.double({ min: 0.2, max: 60, noNaN: true }),
        fc.boolean(),
        (seed, factor, offersH3) => {
          const recording = misfitting(seed, factor, offersH3);
          const { decision } = predict(recording);
          const likeliestGain = likeliestGains(recording, decision);
          for (const action of headlined(decision)) {
            const emulatedMs = decision.baseline.emulated.pltMs - action.emulated.pltMs;
            expect(action.gainMs).toBeLessThanOrEqual(Math.min(emulatedMs, likeliestGain(action)) + 1e-6);
          }
          const { action, baseline } = decision;
          expect(timeByItself(decision, null) - action.time.pltMs).toBeCloseTo(action.gainMs, 6);
          const seenGainMs = timeByItself(decision, recording.pltMs) - action.time.pltMs;
          const mostMs = Math.max(action.gainMs, baseline.emulated.pltMs - action.emulated.pltMs);
          expect(seenGainMs).toBeLessThanOrEqual(mostMs + 1e-6);
        },
      ),
      { numRuns: countRuns(20, 60), seed: 1 },
    );
  });

  it.each([1, 3])('is none where the recorded load was already about as fast: %d images', (images) => {
    const origin = 'https://o.test';
    const fetches = Array.from({ length: images }, () => ({ bytes: 30_000, after: [0] }));
    const graph = pageOf([{ bytes: 20_000 }, ...fetches], [origin]);
    const servers = [serverOf(origin, { thinkMs: 50 })];
    const path = pathOf({ rttMs: 45, downBps: 20e6 });
    const load = recordLoad(graph, path, servers, { [origin]: 'h2' });
    const requests = load.requests.map((request) => ({ ...request, offersH3: false }));
    const recording = { ...load, requests };
    const { decision } = predict(recording);
    const offer = decision.actions.find(({ kind }) => kind === 'offer-h3')!;
    // A load is expected to take a little longer than the one recorded, which HTTP/3 would hardly beat.
    expect(offer.gainMs).toBeGreaterThan(30);
    expect(recording.pltMs! - offer.time.pltMs).toBeLessThan(30);
    expect(offer.worthwhile).toBe(false);
    expect(decision.verdict).not.toContain('→');
  });

  it('is the measured one where both sides are measured', () => {
    const times = fc.array(fc.integer({ min: 300, max: 9000 }), { minLength: 3, maxLength: 5 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), times, times, (seed, pltMs, ownMs) => {
        const recording = misfitting(seed, 1, true);
        const { assignment } = predict(recording).decision.actions.find(({ kind }) => kind !== 'leave')!;
        const loads = [
          { under: assignment, pltMs, ageMs: 0 },
          { under: 'browser' as const, pltMs: ownMs, ageMs: 0 },
        ];
        const { actions } = predict(recording, { knowledge: { loads } }).decision;
        const measured = actions.find((each) => each.measured && each.kind !== 'leave')!;
        expect(measured.gainMs).toBeCloseTo(median([...ownMs, recording.pltMs!]) - median(pltMs), 6);
      }),
      { numRuns: countRuns(12, 30), seed: 1 },
    );
  });

  it.each([130_000, 400_000, 1_000_000])('is of the load as it is, also where it takes %d ms', (waitMs) => {
    const recording = misfitting(1, 1, false);
    const [document, ...rest] = recording.requests;
    const later = <T extends number | null>(ms: T) => (ms === null ? ms : ms + waitMs) as T;
    const shifted = rest.map((request) => ({
      ...request,
      startMs: request.startMs + waitMs,
      endMs: later(request.endMs),
      phases: Object.fromEntries(
        Object.entries(request.phases).map(([phase, ms]) => [phase, later(ms as number | null)]),
      ) as unknown as typeof request.phases,
    }));
    const { responseStartMs } = document!.phases;
    const slow = {
      ...document!,
      endMs: later(document!.endMs),
      phases: { ...document!.phases, responseStartMs: later(responseStartMs) },
    };
    const { decision } = predict({
      ...recording,
      pltMs: recording.pltMs! + waitMs,
      requests: [slow, ...shifted],
    });
    expect(decision.baseline.pltMs / waitMs).toBeGreaterThan(0.9);
    for (const { gainMs } of decision.actions) expect(gainMs).toBeLessThan(2000);
  });
});

describe('the paints of a prediction', () => {
  it.each([0.3, 4])(
    'come before the load event where they did, in a load of %s times its emulation',
    (factor) => {
      const recording = misfitting(3, factor, true);
      const firstContentfulPaintMs = 0.5 * recording.pltMs!;
      const largestContentfulPaintMs = 0.9 * recording.pltMs!;
      const painted = { ...recording, firstContentfulPaintMs, largestContentfulPaintMs };
      const { protocols, emulated } = predict(painted);
      for (const protocol of PROTOCOLS) {
        const [time, own] = [protocols[protocol], emulated.protocols[protocol]];
        if ('unavailable' in time || 'unavailable' in own) throw new Error(`${protocol} has no time`);
        const isBefore = own.largestContentfulPaintMs! <= own.pltMs;
        expect(time.largestContentfulPaintMs! <= time.pltMs).toBe(isBefore);
        expect(time.firstContentfulPaintMs!).toBeLessThanOrEqual(own.firstContentfulPaintMs!);
      }
    },
  );
});
