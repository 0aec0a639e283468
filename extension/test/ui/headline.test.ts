/** What popup, panel and reports say first. */
import type { Decision, Prediction } from '@hopwise/contract';
import { afterEach, describe, expect, test } from 'vitest';
import type { PinGain } from '../../src/evidence/pin-outcomes.ts';
import { english } from '../../src/language/english.ts';
import { german } from '../../src/language/german.ts';
import { useLanguage } from '../../src/language/translate.ts';
import { findHeadlineTimes, writeHeadline } from '../../src/ui/headline.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';

const A = 'https://a.example';
const AVOID = actionOf('avoid-h3', { [A]: 'h2' });

/** A page that was recorded in 4.4 s, of which 4.3 s are expected and 2.3 s promised. */
function predictionOf(decision: Decision, more: Partial<Prediction> = {}): Prediction {
  const fit = {
    recordedMs: 4400,
    explainedMs: 4300,
    explainedRange: { low: 4100, high: 4500 },
    understood: true,
    reason: '',
    summary: '',
    notes: [],
  };
  return {
    decision,
    fit,
    network: { udp: 1.2, udpShares: { open: 0, policed: 1, blocked: 0 } },
    observed: { pltMs: 4400, protocols: {} },
    page: { url: `${A}/`, requests: 1, origins: 1, bytes: 1 },
    ...more,
  } as Prediction;
}

const offer = predictionOf(decisionOf([AVOID]));
const gain: PinGain = {
  beforeMs: 25_000,
  afterMs: 5200,
  beforeLoads: 1,
  afterLoads: 1,
  savedMs: { low: 1, high: 2 },
  effect: 'gains',
};
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

afterEach(() => useLanguage('en', english));

test('an offer compares with the load just seen, and says why the network is slow', () => {
  expect(writeHeadline(offer)).toBe('Could load in 2.3 s instead of 4.4 s. Your network slows HTTP/3 down.');
  expect(findHeadlineTimes(offer)).toEqual({ ownMs: 4400, hopwiseMs: 2300 });
});

test('later visits that take noticeably longer by themselves are named, as on the icon', () => {
  const { decision } = offer;
  const later = (laterPltMs: number) =>
    writeHeadline(predictionOf({ ...decision, baseline: { ...decision.baseline, laterPltMs } }));
  expect(plain(later(12_800))).toBe(
    'Could load in 2.3 s instead of 4.4 s. Your network slows HTTP/3 down. Later visits take about 13 s by themselves.',
  );
  // 0.9 s more.
  expect(later(5300)).not.toContain('Later visits');
});

test('German has its own sentences', () => {
  useLanguage('de', german);
  expect(writeHeadline(offer)).toBe('Könnte in 2,3 s statt 4,4 s laden. Ihr Netz bremst HTTP/3.');
});

describe('the time before is the expected one', () => {
  const expectExpected = (prediction: Prediction, pinned = {}) =>
    expect(findHeadlineTimes(prediction, null, pinned).ownMs).toBe(4300);
  const seen = (pltMs: number | null) => predictionOf(offer.decision, { observed: { pltMs, protocols: {} } });
  // The range of nine in ten loads is 3.8 to 4.9 s.
  test.each([[null], [3700], [5000]])('after a load of %j ms', (pltMs) => expectExpected(seen(pltMs)));

  test('after a load that was as fast as the action promises', () => {
    const action = { ...AVOID, time: { pltMs: 3900, low: 3500, high: 4300 }, gainMs: 400 };
    expectExpected(predictionOf(decisionOf([action]), { observed: { pltMs: 4000, protocols: {} } }));
  });

  test('after a load with other pins', () => expectExpected(offer, { 'https://b.example': 'h2' }));
});

test('a load whose pins did what is recommended says what it took', () => {
  const held = { [A]: 'h2' as const };
  expect(writeHeadline(offer, null, held)).toBe(
    'Took 4.4 s with hopwise. More loads will show whether it helps.',
  );
  expect(findHeadlineTimes(offer, null, held)).toEqual({ ownMs: null, hopwiseMs: 4400 });
});

test.each([
  ['likely', { sure: false }, 'Could probably load in 2.3 s instead of 4.4 s.'],
  ['measured', { measured: true }, 'Loads in 2.3 s instead of 4.4 s, measured.'],
])('a gain that is %s is called so', (_words, more, lead) => {
  expect(writeHeadline(predictionOf(decisionOf([{ ...AVOID, ...more }])))).toContain(lead);
});

test.each([
  ['blocked', AVOID, 'Your network blocks HTTP/3.'],
  ['open', AVOID, 'HTTP/3 is slower for this page on your network.'],
  ['open', actionOf('force-protocol', { [A]: 'h1' }), 'HTTP/1.1 is faster for this page on your network.'],
  [
    'open',
    actionOf('force-protocol', { [A]: 'h1', 'https://b.example': 'h2' }),
    'Other HTTP versions are faster for this page on your network.',
  ],
] as const)('with UDP that is %s the reason is told: %#', (udp, action, why) => {
  const network = { ...offer.network, udp };
  expect(writeHeadline(predictionOf(decisionOf([action]), { network }))).toContain(why);
});

test.each([
  ['blocked', AVOID, 'Your network blocks HTTP/3.'],
  [1.2, AVOID, 'Your network may be slowing HTTP/3 down.'],
  ['open', AVOID, 'HTTP/3 is probably slower for this page on your network.'],
  [
    'open',
    actionOf('force-protocol', { [A]: 'h1' }),
    'HTTP/1.1 is probably faster for this page on your network.',
  ],
  [
    'open',
    actionOf('force-protocol', { [A]: 'h1', 'https://b.example': 'h2' }),
    'Other HTTP versions are probably faster for this page on your network.',
  ],
] as const)('a gain that is only likely has a reason no surer than it: %#', (udp, action, why) => {
  const likely = decisionOf([{ ...action, sure: false }]);
  expect(writeHeadline(predictionOf(likely, { network: { ...offer.network, udp } }))).toContain(why);
});

const equal = { pltMs: 4300, low: 3800, high: 4900 };
const slow = { pltMs: 9000, low: 8000, high: 9900 };
test.each([
  [
    'right',
    { protocols: { h3: equal, h2: slow }, ownMs: 4300 },
    'All good. No change would load this page noticeably faster.',
  ],
  [
    'equal',
    { protocols: { h3: equal, h2: equal }, ownMs: 4300 },
    'All good. The HTTP versions are about equal here.',
  ],
  ['not surely worse', { protocols: { h3: slow, h2: equal }, ownMs: 9000 }, 'Nothing worth changing here.'],
])('the browser’s own choice that is %s is left alone', (_words, { protocols, ownMs }, words) => {
  const own = decisionOf([LEAVE], { protocols });
  const times = { pltMs: ownMs, laterPltMs: ownMs };
  const decision = { ...own, baseline: { ...own.baseline, ...times, protocols: { [A]: 'h3' as const } } };
  expect(writeHeadline(predictionOf(decision))).toBe(words);
  expect(findHeadlineTimes(predictionOf(decision))).toEqual({ ownMs: 4400, hopwiseMs: null });
  const long = { ...decision, baseline: { ...decision.baseline, pltMs: 54_000 } };
  expect(writeHeadline(predictionOf(long))).toBe(words.replace('All good.', 'Nothing worth changing here.'));
});

test('where an action may well help, nothing is said to be the fastest', () => {
  const withdrawal = { ...actionOf('withdraw-h3', { [A]: 'h2' }), helps: 0.6, worthwhile: false };
  const own = decisionOf([LEAVE, withdrawal], { protocols: { h3: equal, h2: slow } });
  const decision = { ...own, baseline: { ...own.baseline, protocols: { [A]: 'h3' as const } } };
  expect(writeHeadline(predictionOf(decision))).toBe('Nothing worth changing here.');
});

test('what its servers could do is for those who run them', () => {
  const decision = decisionOf([LEAVE, actionOf('offer-h3', { [A]: 'h3' })], {
    protocols: { h3: equal, h2: slow },
  });
  expect(writeHeadline(predictionOf({ ...decision, kind: 'leave' }))).toBe(
    `Nothing worth changing here. If you run ${A.replace('https://', '')}: later visits with HTTP/3 there 4.3 s → about 2.3 s.`,
  );
});

test('a hope is stated with its chance, in whole sentences', () => {
  const decision = decisionOf([LEAVE, { ...AVOID, helps: 0.7 }], { kind: 'unsure' });
  expect(writeHeadline(predictionOf(decision))).toBe(
    'Nothing to change yet. Without HTTP/3 this page may load 2.0 s faster, with a chance of 70%. Verify to be sure.',
  );
});

test('a hope that a verification has left open asks for none', () => {
  const evidence = [{ kind: 'verification' as const, text: 'The transfers took 1.0 s over HTTP/2.' }];
  const decision = decisionOf([LEAVE, { ...AVOID, helps: 0.7 }], { kind: 'unsure', evidence });
  expect(writeHeadline(predictionOf(decision))).toBe(
    'Nothing to change yet. Without HTTP/3 this page may load 2.0 s faster, with a chance of 70%. The verification could not settle it.',
  );
});

test('a load that is not understood promises nothing, until it is verified', () => {
  const reason = '10 requests failed because of HTTP/3.';
  const summary = 'The recorded load took 9.0 s, as its emulation expects.';
  const fit = { ...offer.fit, understood: false, reason, summary };
  const decision = decisionOf([LEAVE, AVOID], { kind: 'unsure' });
  expect(writeHeadline(predictionOf(decision, { fit }))).toBe(
    `This load is not understood. ${reason} Verify it to see more.`,
  );
  const evidence = [{ kind: 'verification' as const, text: '' }];
  expect(writeHeadline(predictionOf({ ...decision, evidence }, { fit }))).toMatch(/^Nothing to change yet\./);
});

test.each([
  [{}, '5× faster: 25 s → 5.2 s, measured.'],
  [{ beforeMs: 4037, afterMs: 2063 }, '1.9× faster: 4.0 s → 2.1 s, measured.'],
  [{ afterMs: 40 }, '625× faster: 25 s → 40 ms, measured.'],
  [{ afterMs: 10_000 }, '2.5× faster: 25 s → 10 s, measured.'],
  [{ beforeMs: 1000, afterMs: 800 }, '20% faster: 1.0 s → 0.8 s, measured.'],
  [{ beforeLoads: 0 }, 'About 5× faster: 25 s (estimated) → 5.2 s, measured.'],
  [
    { beforeMs: 900, afterMs: 1540, effect: 'harms' as const },
    'Slower with hopwise: 0.9 s → 1.5 s, measured. Better to undo it.',
  ],
  [
    { beforeMs: 900, afterMs: 1540, effect: 'slower-once' as const },
    'Slower in its first load with hopwise: 0.9 s → 1.5 s. One more visit will tell.',
  ],
  [
    { beforeMs: 900, afterMs: 910, effect: 'nothing' as const },
    'No gain from hopwise here: 900 ms → 910 ms, measured. Better to undo it.',
  ],
  [
    { beforeMs: 900, afterMs: 910, effect: 'unclear' as const },
    '910 ms with hopwise, 900 ms before. More loads will show whether it helps.',
  ],
])('measured loads with pins are the headline: %#', (more, words) => {
  const measured = { ...gain, ...more };
  expect(plain(writeHeadline(offer, measured))).toBe(words);
  expect(findHeadlineTimes(offer, measured)).toEqual({
    ownMs: measured.beforeMs,
    hopwiseMs: measured.afterMs,
  });
});
