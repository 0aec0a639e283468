import type { Decision, Protocol } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import type { CellGroundTruth } from '../../../lab/src/judge/cell-ground-truth.ts';
import { decisionFigures, scoreDecision } from '../../src/accuracy/decisions.ts';

const truth = (medians: Record<Protocol, number>, best: Protocol): CellGroundTruth =>
  ({ medians, best, clear: true }) as CellGroundTruth;

function decision(kind: Decision['kind'], best: Protocol, held: Protocol[], confidence = 0.9): Decision {
  const assignment = Object.fromEntries(held.map((protocol, index) => [`https://${index}.test`, protocol]));
  const action = { kind: kind === 'act' ? 'avoid-h3' : 'leave', assignment };
  const protocols = { h2: { pltMs: 1000, low: 900, high: 1200 } };
  const baseline = { pltMs: 2200, low: 1800, high: 2700 };
  return { kind, best, confidence, action, baseline, protocols } as unknown as Decision;
}

const POLICED = truth({ h1: 1000, h2: 1030, h3: 5000 }, 'h1');

describe('a decision', () => {
  it('is judged by loads under its action and by the browser itself', () => {
    expect(
      scoreDecision(decision('act', 'h2', ['h2', 'h2']), POLICED, { naturalMs: 2000, others: {} }),
    ).toEqual({
      kind: 'act',
      best: 'h2',
      decided: true,
      clear: true,
      right: true,
      change: 1030 / 2000 - 1,
      baselineError: expect.closeTo(0.1, 9),
      held: { natural: [], protocols: [] },
    });
  });

  it('is wrong when its protocol is over 5% slower than the fastest', () => {
    expect(
      scoreDecision(decision('leave', 'h3', ['h3']), POLICED, { naturalMs: 2000, others: {} }),
    ).toMatchObject({
      right: false,
      change: null,
    });
  });

  it('has no measured change where its action mixes protocols', () => {
    expect(
      scoreDecision(decision('act', 'h2', ['h2', 'h3']), POLICED, { naturalMs: 2000, others: {} }).change,
    ).toBeNull();
  });
});

describe('figures of decisions', () => {
  const others = { natural: [1700, 1800, 2701], h1: [1], h2: [900, 1200, 1201] };
  const of = (one: Decision, naturalMs: number) => scoreDecision(one, POLICED, { naturalMs, others });
  it('count harm, what is decided, and answers that differ between loads of a cell', () => {
    const harmed = of(decision('act', 'h2', ['h2']), 900);
    const helped = of(decision('act', 'h2', ['h2']), 2000);
    const unsure = of(decision('unsure', 'h3', ['h3'], 0.5), 2000);
    const figures = decisionFigures([[harmed, helped], [helped, unsure], [helped]]);
    expect(figures).toMatchObject({
      decisions: 5,
      acted: 0.8,
      unsure: 0.2,
      decidedOfClear: 0.8,
      rightOfDecided: 1,
      harmed: 0.25,
      flips: 0.5,
    });
    // One of the browser's own loads is in range, and two of those over h2; h1 has no range.
    expect(figures.naturalHeld).toBeCloseTo(1 / 3, 9);
    expect(figures.protocolsHeld).toBeCloseTo(2 / 3, 9);
    expect(figures.medianChange).toBeCloseTo(1030 / 2000 - 1, 9);
  });
});
