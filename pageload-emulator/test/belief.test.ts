import { describe, expect, it } from 'vitest';
import { Belief } from '../src/decide/belief.ts';

const ERROR = [
  [0.01, 0],
  [0, 0.01],
];

describe('belief about load times', () => {
  it('gives the chance that one time is below the other from their errors', () => {
    const belief = new Belief([[Math.log(1000), Math.log(1200)]], ERROR);
    // log(1.2) over the deviation of the difference, 0.1414: 1.289 standard deviations.
    expect(belief.probabilityBelow(0, 1)).toBeCloseTo(0.9013, 3);
    expect(belief.probabilityBelow(1, 0)).toBeCloseTo(0.0987, 3);
    expect(belief.quantile(0, 0.5)).toBeCloseTo(1000, 0);
    expect(belief.quantile(0, 0.9)).toBeCloseTo(1000 * Math.exp(0.1 * 1.2816), 0);
  });

  it('moves a time by the share of its own variance in that of the observation', () => {
    const belief = new Belief([[Math.log(1000), Math.log(1000)]], ERROR);
    belief.observe({ coefficients: [1, 0], value: Math.log(2000), variance: 0.03 });
    expect(belief.meanLog(0)).toBeCloseTo(Math.log(1000) + 0.25 * Math.log(2), 9);
    expect(belief.meanLog(1)).toBeCloseTo(Math.log(1000), 9);
  });

  it('moves what shares its error with it', () => {
    const belief = new Belief(
      [[0, 0]],
      [
        [0.02, 0.01],
        [0.01, 0.02],
      ],
    );
    belief.observe({ coefficients: [1, 0], value: 1, variance: 0.02 });
    expect([belief.meanLog(0), belief.meanLog(1)]).toEqual([expect.closeTo(0.5, 9), expect.closeTo(0.25, 9)]);
  });

  it('makes scenarios that predicted an observation likelier, and only then', () => {
    const scenarios = [
      [0, 0],
      [0, 1.5],
    ];
    const observation = { coefficients: [-1, 1], value: 1.5, variance: 0.01 };
    const observed = new Belief(scenarios, ERROR);
    observed.observe(observation);
    expect(observed.meanLog(1) - observed.meanLog(0)).toBeCloseTo(1.5, 2);
    const adjusted = new Belief(scenarios, ERROR);
    adjusted.adjust(1, observation);
    expect(adjusted.meanLog(1)).toBeCloseTo(0.75, 9);
  });

  it('keeps equal weights when an observation is impossible everywhere', () => {
    const belief = new Belief([[0], [1]], [[1e-6]]);
    belief.observe({ coefficients: [1], value: 1e3, variance: 1e-6 });
    expect(belief.meanLog(0)).toSatisfy(Number.isFinite);
  });

  it('weighs rare but costly scenarios by their cost', () => {
    const belief = new Belief(
      [
        [0, -0.05],
        [0, -0.05],
        [0, 1.6],
      ],
      ERROR,
    );
    const [safe, risky] = belief.regrets([0, 1]);
    expect(risky).toBeGreaterThan(safe!);
  });
});
