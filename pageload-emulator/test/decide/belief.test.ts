import { normalCdf } from '@hopwise/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Belief } from '../../src/decide/belief.ts';

const ERROR = [
  [0.01, 0],
  [0, 0.01],
];

/** A belief about candidates 0, 1, … @param times by scenario, then candidate, milliseconds @param sharedMs in every scenario */
function beliefOf(times: readonly number[][], covariance: readonly number[][], sharedMs = 0): Belief<number> {
  return new Belief(
    [...times[0]!.keys()],
    (candidate) => times.map((each) => each[candidate]!),
    times.map(() => sharedMs),
    (a, b) => covariance[a]![b]!,
  );
}

/** Single loads that do not scatter. */
const STILL = { own: 0, shared: 0 };

const loadOf = (candidate: number, ms: number, variance = 0.0225) => ({
  candidate,
  value: Math.log(ms),
  variance,
  isNew: false,
});

const timeOf = (belief: Belief<number>, candidate: number): number => Math.exp(belief.meanLog(candidate));

describe('belief about load times', () => {
  it('gives the chance that one time is below the other from their errors', () => {
    const belief = beliefOf([[1000, 1200]], ERROR);
    // log(1.2) over the deviation of the difference, 0.1414: 1.289 standard deviations.
    expect(belief.probabilityBelow(0, 1)).toBeCloseTo(0.9013, 3);
    expect(belief.probabilityBelow(1, 0)).toBeCloseTo(0.0987, 3);
    expect(belief.quantile(0, 0.5, STILL)).toBeCloseTo(1000, 0);
    expect(belief.quantile(0, 0.9, STILL)).toBeCloseTo(1000 * Math.exp(0.1 * 1.2816), 0);
  });

  it('gives a load to come the scatter of single loads, and losses of its own', () => {
    // By losses of its own a load of candidate 0 takes 800 to 1250 ms.
    const drawn = Math.log(1.25);
    const belief = beliefOf(
      [
        [800, 900],
        [1250, 900],
      ],
      ERROR,
    );
    belief.updateByLoads([loadOf(0, 1000, 1e-6)]);
    const scatter = { own: 0.07, shared: 0 };
    expect(belief.quantile(0, 0.5, scatter)).toBeCloseTo(1000, -1);
    expect(Math.log(belief.quantile(0, 0.9, scatter) / 1000)).toBeCloseTo(
      1.2816 * Math.hypot(drawn, 0.07),
      1,
    );
    // Nothing was seen of candidate 1, whose losses make no difference: its error and the scatter remain.
    expect(Math.log(belief.quantile(1, 0.9, scatter) / 900)).toBeCloseTo(1.2816 * Math.hypot(0.1, 0.07), 2);
    // Chances are of what loads take as a rule: seen to the point for candidate 0, but for its error for candidate 1.
    expect(belief.probabilityBelow(1, 0)).toBeCloseTo(normalCdf(Math.log(1000 / 900) / 0.1), 1);
  });

  it('adds what all share to every time, and gives the same chance with it', () => {
    const belief = beliefOf([[31_000, 31_200]], ERROR, 30_000);
    expect(timeOf(belief, 1)).toBeCloseTo(31_200, 0);
    expect(belief.probabilityBelow(0, 1)).toBeCloseTo(0.9, 2);
    expect(belief.probabilityBelow(0, 1, 1.05)).toBeCloseTo(1, 3);
  });

  it('prefers scenarios that agree with many loads, but singles none out by less than the error of emulation', () => {
    // The recorded load took as long as in the first scenario, many measured ones as long as in the second.
    const shareOfSecond = (ms: number) => {
      const belief = beliefOf([[1000], [ms]], [[0.01]]);
      belief.updateByLoads([{ ...loadOf(0, ms, 1e-4), isNew: true }, loadOf(0, 1010, 0.0025)]);
      return belief.average((scenario) => scenario);
    };
    expect(shareOfSecond(1300)).toBeGreaterThan(0.6);
    expect(shareOfSecond(1300)).toBeLessThan(0.8);
    expect(shareOfSecond(3000)).toBeGreaterThan(0.95);
  });

  it('moves a time by the share of its own variance in that of the observation', () => {
    const belief = beliefOf([[1000, 1000]], ERROR);
    belief.updateByLoads([{ ...loadOf(0, 1100, 0.03), isNew: true }]);
    // A tenth is within the errors: a part below 1% of it is taken for a misfit.
    expect(timeOf(belief, 0) / 1000).toBeCloseTo(1.1 ** 0.25, 1);
    expect(timeOf(belief, 1)).toBeLessThan(1010);
  });

  it('moves what shares its error with it', () => {
    const belief = beliefOf(
      [[1000, 1000]],
      [
        [0.02, 0.01],
        [0.01, 0.02],
      ],
    );
    belief.updateAll({ candidate: 0, rival: 1, value: 1, variance: 0.02 });
    expect(belief.meanLog(0) - Math.log(1000)).toBeCloseTo(0.25, 3);
    expect(belief.meanLog(1) - Math.log(1000)).toBeCloseTo(-0.25, 3);
  });

  it('says nothing of one candidate by a load that the errors do not explain', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 6, max: 600, noNaN: true }),
        fc.integer({ min: 300, max: 700 }),
        (factor, rivalMs) => {
          const belief = beliefOf([[500, rivalMs]], ERROR);
          const before = belief.probabilityBelow(1, 0);
          belief.updateByLoads([loadOf(0, factor * 500)]);
          expect(belief.probabilityBelow(1, 0)).toBeCloseTo(before, 1);
          // All of it is shared, so the difference stays.
          expect(timeOf(belief, 0) / (factor * 500)).toBeCloseTo(1, 1);
          expect(timeOf(belief, 1) - timeOf(belief, 0)).toSatisfy(
            (apartMs: number) => Math.abs(apartMs - (rivalMs - 500)) < 20,
          );
        },
      ),
      { numRuns: 100, seed: 1 },
    );
  });

  it('takes no load for a misfit that is as far off as the emulator usually is, however well a page is known', () => {
    const known = [
      [0.0025, 0],
      [0, 0.0025],
    ];
    const belief = beliefOf([[1000, 1000]], known);
    belief.updateByLoads([loadOf(0, 1150, 0.0025)]);
    // Half of what surprises is the candidate's own, next to nothing is common to all.
    expect(timeOf(belief, 0)).toBeGreaterThan(1060);
    expect(timeOf(belief, 0)).toBeLessThan(1090);
    expect(timeOf(belief, 1)).toBeLessThan(1020);
  });

  it('scales all alike after a load that took far less than expected', () => {
    const belief = beliefOf([[9000, 6000]], ERROR);
    belief.updateByLoads([loadOf(0, 600)]);
    expect(timeOf(belief, 0)).toBeCloseTo(600, -2);
    expect(timeOf(belief, 1)).toBeCloseTo(400, -2);
  });

  it('takes for shared only what all measured candidates have in common', () => {
    const belief = beliefOf([[1500, 1400]], ERROR);
    belief.updateByLoads([
      { ...loadOf(0, 9400, 0.005), isNew: true },
      { ...loadOf(1, 1700, 0.005), isNew: true },
    ]);
    expect(timeOf(belief, 1)).toBeLessThan(1750);
    expect(belief.probabilityBelow(1, 0)).toBeGreaterThan(0.99);
  });

  it('makes scenarios that predicted an observation likelier, and only then', () => {
    const scenarios = [
      [1000, 1000],
      [1000, 1000 * Math.exp(1.5)],
    ];
    const observation = { candidate: 1, rival: 0, value: 1.5, variance: 0.01 };
    const observed = beliefOf(scenarios, ERROR);
    observed.updateAll(observation);
    expect(observed.meanLog(1) - observed.meanLog(0)).toBeCloseTo(1.5, 2);
    const adjusted = beliefOf(scenarios, ERROR);
    adjusted.updateScenario(1, observation);
    expect(adjusted.meanLog(1) - Math.log(1000)).toBeCloseTo(0.75, 4);
  });

  it('doubts a ratio of other pages that is far from what is expected of this one', () => {
    const movedBy = (value: number) => {
      const belief = beliefOf([[1000, 1000]], ERROR);
      belief.updateScenario(0, { candidate: 1, rival: 0, value, variance: 0.01 });
      return (belief.meanLog(1) - belief.meanLog(0)) / value;
    };
    expect(movedBy(0.2)).toBeGreaterThan(0.6);
    expect(movedBy(1.5)).toBeLessThan(0.1);
  });

  it('keeps equal weights when an observation is impossible everywhere', () => {
    const belief = beliefOf(
      [
        [1, 1],
        [3, 3],
      ],
      [
        [1e-6, 0],
        [0, 1e-6],
      ],
    );
    belief.updateAll({ candidate: 0, rival: 1, value: 1e3, variance: 1e-6 });
    expect(belief.meanLog(0)).toSatisfy(Number.isFinite);
  });

  it('weighs rare but costly scenarios by their cost', () => {
    const belief = beliefOf(
      [
        [1000, 950],
        [1000, 950],
        [1000, 5000],
      ],
      ERROR,
    );
    expect(belief.regret(1, [0, 1])).toBeGreaterThan(belief.regret(0, [0, 1]));
  });

  it('keeps gains within a limit', () => {
    const belief = beliefOf([[1000, 700]], ERROR, 100);
    belief.limitGains(0, undefined, () => 50);
    expect(timeOf(belief, 1)).toBeCloseTo(950, 6);
    expect(timeOf(belief, 0)).toBeCloseTo(1000, 6);
  });
});

it('of a session of 45 minutes claims no seconds that its few requests do not take', () => {
  const sessionMs = 45 * 60_000;
  const of = (candidate: string) => [candidate === 'h1' ? sessionMs + 1 : sessionMs];
  const belief = new Belief(['h1', 'h2'], of, [sessionMs], (a, b) => (a === b ? 0.01 : 0));
  belief.updateAll({ candidate: 'h1', rival: 'h2', value: Math.log(1.2), variance: 1e-6 });
  const laterMs = Math.exp(belief.meanLog('h1')) - Math.exp(belief.meanLog('h2'));
  // A fifth of 2% of the longest load, 5 s, is 20 ms; of the whole session it would be 11 s.
  expect(laterMs).toBeGreaterThan(10);
  expect(laterMs).toBeLessThan(25);
});
