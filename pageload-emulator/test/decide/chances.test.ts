import { type Protocol, predict } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { Belief } from '../../src/decide/belief.ts';
import type { Candidate } from '../../src/decide/candidates.ts';
import { Chances, missedBy } from '../../src/decide/chances.ts';
import type { FitFigures } from '../../src/decide/fit.ts';
import { isUdpShown } from '../../src/decide/undrawn-udp.ts';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const candidateOf = (pltMs: number, protocol: Protocol): Candidate => ({
  assignment: { 'https://o.test': protocol },
  discoversH3: false,
  pltMs: [pltMs],
});

/** How sure it is that 1000 ms are less than a rival's time, both emulated with an error of 1%. */
function chanceAgainst(
  rivalMs: number,
  missed: number,
  [ownProtocol, rivalProtocol]: readonly [Protocol, Protocol] = ['h2', 'h1'],
  isUdpShown = true,
): number {
  const [own, rival] = [candidateOf(1000, ownProtocol), candidateOf(rivalMs, rivalProtocol)];
  const belief = new Belief(
    [own, rival],
    ({ pltMs }) => pltMs,
    [0],
    (a, b) => (a === b ? 1e-4 : 0),
  );
  return new Chances(belief, missed, isUdpShown).below(own, rival);
}

describe('how sure the order of two choices is', () => {
  it.each([
    ['is believed where the recorded load is reproduced', 1150, 0.09, 1],
    ['is limited where the emulation misses it by more', 1150, 0.11, 0.7],
    ['is limited by as much as a lead is less than three times that', 1800, 0.2, 0.7],
    ['is believed of a larger lead', 1850, 0.2, 1],
    ['stays where it is lower', 990, 0.2, 0.24],
  ])('%s', (_words, rivalMs, missed, expected) => {
    expect(chanceAgainst(rivalMs, missed)).toBeCloseTo(expected, 2);
  });

  it.each([
    [['h3', 'h2'], 0.02, 0.7],
    [['h3', 'h2'], 0.009, 1],
    [['h2', 'h3'], 0.02, 1],
    [['h3', 'h3'], 0.02, 1],
  ] as const)(
    'of %j is doubtful where HTTP/3 is ahead and UDP may be hindered, here by %d',
    (protocols, hindered, expected) => {
      const undrawn = { open: 0, policed: hindered / 4, blocked: (3 * hindered) / 4 };
      expect(chanceAgainst(1500, 0, protocols, isUdpShown(undrawn))).toBeCloseTo(expected, 2);
    },
  );

  it('is that of an answer', () => {
    const origin = 'https://o.test';
    const graph = pageOf([{ bytes: 20_000 }, { bytes: 30_000, after: [0] }], [origin]);
    const path = pathOf({ rttMs: 100, downBps: 20e6 });
    const recording = recordLoad(graph, path, [serverOf(origin)], { [origin]: 'h2' });
    expect(predict(recording)).toMatchObject({ best: 'h3', decided: false, confidence: 0.7 });
    const open = { udp: { kind: 'open' } } as const;
    expect(predict(recording, { network: open })).toMatchObject({ best: 'h3', decided: true });
    // On so slow a link the page takes longer than it did.
    const missed = predict(recording, { network: { ...open, downBps: 2e6 } });
    expect(missed).toMatchObject({ best: 'h3', decided: false, confidence: 0.7 });
  });
});

describe('what an emulation misses the recorded load by', () => {
  const fit = (recordedMs: number | null, explainedMs: number | null): FitFigures => ({
    recordedMs,
    explained: explainedMs === null ? null : { pltMs: explainedMs, low: explainedMs, high: explainedMs },
    isPolicerAdded: false,
    misfits: [],
  });
  it.each([
    [1000, 1100, Math.log(1.1)],
    [1100, 1000, Math.log(1.1)],
    [null, 1000, 0],
    [1000, null, 0],
  ])('recorded in %j ms, emulated in %j', (recordedMs, explainedMs, expected) => {
    expect(missedBy(fit(recordedMs, explainedMs))).toBeCloseTo(expected, 9);
  });
});
