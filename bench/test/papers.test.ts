import { describe, expect, it } from 'vitest';
import type { Finding } from '../src/papers/claim.ts';
import { allClaims } from '../src/papers/claims.ts';
import { errorsOf } from '../src/papers/econ/kernel-flows.ts';
import { isHighAtBothEnds, type LossCurve } from '../src/papers/econ/loss-curves.ts';
import { RIVALS } from '../src/papers/econ/rivals.ts';
import { judgeFinding } from '../src/papers/judge-claim.ts';
import { judge, renderMarkdown } from '../src/papers/report.ts';

const measured = (value: number, bounds: { min?: number; max?: number }): Finding => ({
  kind: 'measured',
  hopwise: 'a model',
  real: { source: 'kernel', value, ...bounds, bounds: 'stated', text: `${value}` },
});

describe('a verdict', () => {
  it.each([
    [measured(0.9, { min: 0.87 }), 'reproduced'],
    [measured(0.87, { min: 0.87 }), 'reproduced'],
    [measured(0.86, { min: 0.87 }), 'refuted'],
    [measured(0.03, { max: 0.02 }), 'refuted'],
    [{ kind: 'incomparable', reason: 'no logs' }, 'not comparable'],
    [{ kind: 'skipped', reason: 'data not given: --data' }, 'not run'],
  ] as [Finding, string][])('of %j is %s', (finding, verdict) => {
    expect(judgeFinding(finding)).toBe(verdict);
  });

  it('needs a number', () => {
    expect(() => judgeFinding(measured(Number.NaN, { min: 0 }))).toThrow(/expected a value/);
  });
});

it('gives each claim its own id', () => {
  const ids = allClaims().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

it('writes one row a claim, with bars escaped', () => {
  const claim = { ...allClaims()[0]!, stated: 'a | b' };
  const markdown = renderMarkdown([judge(claim, measured(1, { min: 0 }))], 'npm run papers --');
  expect(markdown.split('\n').filter((line) => line.startsWith('| econ-'))).toEqual([
    '| econ-loss-azure | Figure 3 | a \\| b | kernel: 1<br>hopwise: a model<br>holds if stated | reproduced |',
  ]);
});

describe('rivals of ECON', () => {
  it.each([
    ['EWMA', 3.6], // 0.8 · 4 + 0.2 · 2
    ['Holt-Winters', 6], // level 2 and trend 2 fit both values
    ['last sample', 4],
    ['harmonic mean', 8 / 3], // 2 / (1/2 + 1/4)
  ] as const)('%s predicts from 2, 4', (name, next) => {
    expect(RIVALS[name]([2, 4])).toBeCloseTo(next, 12);
  });

  it('err less than a wrong model on flows that are all alike', () => {
    const { econ, rivals } = errorsOf(Array(8).fill(100), 110);
    expect(econ).toBeCloseTo(0.1, 12);
    for (const error of Object.values(rivals)) expect(error).toBeCloseTo(0, 12);
  });
});

describe('a curve of loss by window', () => {
  const curve = (loss: (cwnd: number) => number): LossCurve => ({
    network: 'azure',
    congestionControl: 'cubic',
    connections: 1,
    rows: Array.from({ length: 100 }, (_, index) => ({ cwnd: index + 1, p: loss(index + 1) })),
  });

  it('is high at both ends only where it falls and rises', () => {
    expect(isHighAtBothEnds(curve((cwnd) => (cwnd - 50) ** 2 * 1e-6))).toBe(true);
    expect(isHighAtBothEnds(curve((cwnd) => cwnd * 1e-6))).toBe(false);
    expect(isHighAtBothEnds(curve(() => 1e-6))).toBe(false);
  });
});
