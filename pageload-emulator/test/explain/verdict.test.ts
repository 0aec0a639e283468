import type { Action, Baseline, Verification } from '@hopwise/contract';
import { expect, it } from 'vitest';
import type { DecisionFigures } from '../../src/decide/decide.ts';
import type { FitFigures } from '../../src/decide/fit.ts';
import { english, type Sentences } from '../../src/explain/sentences/english.ts';
import { german } from '../../src/explain/sentences/german.ts';
import { describeDecision, timeByItself } from '../../src/explain/verdict.ts';
import { VERIFICATION } from '../support/verification.ts';

const baseline = { pltMs: 4300, low: 3800, high: 4900, emulated: { pltMs: 4200 } } as Baseline;
const action = {
  time: { pltMs: 2300, low: 2000, high: 2700 },
  emulated: { pltMs: 2000 },
} as Action;
const fit = { explained: null, misfits: [] } as unknown as FitFigures;
const timeOf = (pltMs: number) => ({ pltMs, low: pltMs, high: pltMs });

/** A decision to change nothing about a page that takes 1 s over HTTP/3. */
const leaveFigures = (h2Ms: number, more: Partial<Baseline>): DecisionFigures =>
  ({
    kind: 'leave',
    best: 'h3',
    confidence: 0.9,
    protocols: { h3: timeOf(1000), h2: timeOf(h2Ms) },
    baseline: { ...baseline, ...more },
    action: { kind: 'leave' },
    actions: [{ kind: 'leave', helps: 0 }],
    isBlocked: false,
    isHttp: false,
    kept: false,
  }) as unknown as DecisionFigures;

it.each([
  ['the load just seen', 4400, 2300, 4400],
  ['the expected load where none was seen', null, 2300, 4300],
  ['the expected load after one that was faster than nine in ten', 3700, 2300, 4300],
  ['the expected load after one that was slower than nine in ten', 5000, 2300, 4300],
  ['the expected load after one that would make the gain larger than it is emulated', 4600, 2300, 4300],
  ['the expected load after one that was as fast as the action promises', 4000, 3900, 4300],
])('an action is compared with %s', (_words, seenMs, pltMs, expected) => {
  const promised = { ...action, time: { ...action.time, pltMs }, gainMs: baseline.pltMs - pltMs };
  expect(timeByItself({ baseline, action: promised }, seenMs)).toBe(expected);
});

it.each([null, 4400])('an action whose gain is that of later visits is compared with them', (seenMs) => {
  const promised = { ...action, gainMs: 700 };
  expect(timeByItself({ baseline, action: promised }, seenMs)).toBe(3000);
});

it.each([
  ['the verdict says that the protocols are equal', 1010, 'All good. The protocols are about equal here', []],
  [
    'the evidence compares those that are not',
    2000,
    'All good. No change would load this page noticeably faster',
    ['HTTP/3, which the browser uses by itself, is the fastest; HTTP/2 takes 2.0 times as long.'],
  ],
])('%s, once', (_words, h2Ms, verdict, evidence) => {
  const figures = leaveFigures(h2Ms, { protocols: { 'https://a.example': 'h3' } });
  const described = describeDecision({ figures, fit }, {}, english);
  expect(described.verdict).toBe(verdict);
  expect(described.evidence.map(({ text }) => text)).toEqual(evidence);
  const long = { ...figures, baseline: { ...figures.baseline, pltMs: 54_000 } };
  const { verdict: ofLong } = describeDecision({ figures: long, fit }, {}, english);
  expect(ofLong).not.toContain('All good');
  expect(verdict).toContain(ofLong.replace(/^.*\. /, ''));
});

it.each([
  // The browser uses HTTP/2 at one of two origins: beside HTTP/3 alone, at 1000 ms, that is as fast within 5%, then not.
  [
    'is as fast as what the browser mixes',
    1040,
    'All good. No change would load this page noticeably faster',
    'HTTP/3 alone would take about as long as what the browser uses by itself; HTTP/2 takes 2.0 times as long.',
  ],
  [
    'is faster, but not surely',
    1060,
    'Nothing worth changing here',
    'HTTP/3 is the fastest, but no change surely gains by it; HTTP/2 takes 2.0 times as long.',
  ],
])(
  'a protocol that %s is not called better than what the browser does, beside a verdict to change nothing',
  (_words, ownMs, verdict, text) => {
    const protocols = { 'https://a.example': 'h2', 'https://b.example': 'h3' } as const;
    const figures = leaveFigures(2000, { ...timeOf(ownMs), laterPltMs: ownMs, protocols });
    const described = describeDecision({ figures, fit }, {}, english);
    expect(described.verdict).toBe(verdict);
    expect(described.evidence.map((each) => each.text)).toEqual([text]);
  },
);

it.each([
  ['is decided', { best: 'h3', confidence: 0.9 }, 'HTTP/3 is the fastest; HTTP/2 takes 10% longer.'],
  [
    'is doubted',
    { best: 'h3', confidence: 0.7 },
    'HTTP/3 is the fastest with a chance of 70%; HTTP/2 takes 10% longer.',
  ],
  [
    'is not taken, as the other is safer',
    { best: 'h2', confidence: 0.9 },
    'HTTP/3 may be the fastest; HTTP/2 takes 10% longer.',
  ],
] as const)(
  'a protocol is called the fastest with the decision’s own chance, where that %s',
  (_words, standing, text) => {
    const action = {
      kind: 'avoid-h3',
      origins: ['https://a.example'],
      time: timeOf(1000),
      gainMs: 500,
      gain: 0.3,
      needs: [],
    };
    const figures = {
      ...standing,
      kind: 'act',
      protocols: { h3: timeOf(1000), h2: timeOf(1100) },
      baseline: { ...baseline, ...timeOf(1500), laterPltMs: 1500, protocols: {} },
      action,
      actions: [action],
      isBlocked: false,
      isHttp: false,
      kept: false,
    } as unknown as DecisionFigures;
    const { evidence } = describeDecision({ figures, fit }, {}, english);
    expect(evidence.map((each) => each.text)).toEqual([text]);
  },
);

it.each([
  [{ 'https://a.example': 'h2', 'https://b.example': 'h2' }, '1 measured load pinned to HTTP/2 took 900 ms.'],
  [{ 'https://a.example': 'h2' }, '1 measured load with pins took 900 ms.'],
  [{ 'https://a.example': 'h2', 'https://b.example': 'h1' }, '1 measured load with pins took 900 ms.'],
] as const)('loads are said to be pinned to a protocol where the whole page was: %j', (under, text) => {
  const protocols = { 'https://a.example': 'h3', 'https://b.example': 'h3' } as const;
  const knowledge = { loads: [{ under, pltMs: [900], ageMs: 0 }] };
  const { evidence } = describeDecision(
    { figures: leaveFigures(2000, { protocols }), fit },
    knowledge,
    english,
  );
  expect(evidence.at(-1)).toEqual({ kind: 'loads', text });
});

it('names the protocols over which a verification could transfer nothing', () => {
  const verification = {
    protocols: { h1: { medianMs: 1900 }, h2: { medianMs: 1700 }, h3: { medianMs: null } },
  } as unknown as Verification;
  const figures = leaveFigures(2000, { protocols: { 'https://a.example': 'h3' } });
  const { evidence } = describeDecision({ figures, fit }, { verification }, english);
  expect(evidence.at(-1)!.text).toBe(
    'The transfers took 1.9 s over HTTP/1.1, 1.7 s over HTTP/2; none went over HTTP/3.',
  );
});

it.each([
  [{}, 'verify to be sure'],
  [{ verification: VERIFICATION }, 'the verification could not settle it'],
])('what may gain is to be verified where it has not been (%#)', (knowledge, rest) => {
  const hope = {
    kind: 'avoid-h3',
    origins: ['https://a.example'],
    gainMs: 500,
    gain: 0.3,
    helps: 0.7,
    needs: [],
    time: timeOf(1000),
  };
  const figures = {
    ...leaveFigures(900, { protocols: { 'https://a.example': 'h3' } }),
    kind: 'unsure',
    best: 'h2',
    confidence: 0.7,
    actions: [{ kind: 'leave', helps: 0, gain: 0, needs: [] }, hope],
  } as unknown as DecisionFigures;
  expect(describeDecision({ figures, fit }, knowledge, english).verdict).toBe(
    `Nothing to change yet. “Keep a.example off HTTP/3” may save 500 ms (chance 70%): ${rest}`,
  );
});

it('the browser’s own protocol is called the fastest with the same chance, and rivals that take as long are in one clause', () => {
  const protocols = { h3: timeOf(1000), h2: timeOf(1070), h1: timeOf(1071) };
  const figures = {
    ...leaveFigures(1070, { protocols: { 'https://a.example': 'h3' } }),
    protocols,
    confidence: 0.7,
  };
  const described = (sentences: Sentences) =>
    describeDecision({ figures, fit }, {}, sentences).evidence[0]!.text;
  expect(described(english)).toBe(
    'HTTP/3, which the browser uses by itself, is the fastest with a chance of 70%; HTTP/2 and HTTP/1.1 take 7% longer.',
  );
  expect(described(german).replaceAll('\u00a0', ' ')).toBe(
    'HTTP/3, das der Browser von selbst nutzt, ist mit einer Wahrscheinlichkeit von 70 % am schnellsten; HTTP/2 und HTTP/1.1 brauchen 7 % länger.',
  );
});
