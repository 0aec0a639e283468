import { standaloneSvg } from '@hopwise/lab/output/charts';
import { expect, test } from 'vitest';
import { drawProduct } from '../../src/product/chart.ts';
import { judgeProduct } from '../../src/product/judge-product.ts';
import { showProduct } from '../../src/product/product-table.ts';
import { visitsOf } from '../support/product-visits.ts';

const VISITS = [
  ...visitsOf('cable', 'a', { off: [1000, 1000, 1000], auto: [1100, 1000, 1000] }),
  ...visitsOf('cable', 'b', { off: [2000, 2000, 2000], auto: [2000, 2000, 2000] }),
  ...visitsOf('udp-policed', 'a', { off: [1000, 8000, 8000], auto: [1000, 4000, 1000] }),
];

test('each arm is compared with the browser alone at the same visit', () => {
  const figures = judgeProduct(VISITS);
  expect(figures.map(({ arm, network }) => `${arm} ${network}`)).toEqual([
    'auto cable',
    'auto udp-policed',
    'auto all',
  ]);
  const [cable, policed, all] = figures as [(typeof figures)[0], (typeof figures)[0], (typeof figures)[0]];
  const estimates = (figure: typeof cable) => figure.ratios.map((ratio) => ratio?.estimate ?? null);
  expect(estimates(cable)[0]).toBeCloseTo(Math.sqrt(1.1), 10);
  expect(estimates(policed)).toEqual([
    1,
    0.5,
    expect.closeTo(0.125, 10),
    null,
    expect.closeTo(0.0625 ** (1 / 3), 10),
  ]);
  // Page b alone.
  expect(estimates(cable)[3]).toBe(1);
  expect(policed.waiting).toBeCloseTo(6 / 17, 10);
  expect(all.visits).toBe(9);
  // Of three visits, no interval.
  expect(all.worst).toEqual({ page: 'cable a', ratio: { estimate: expect.closeTo(1.1 ** (1 / 3), 10) } });
  expect(all.ratios[4]!.low).toBeLessThan(all.ratios[4]!.estimate);
  expect(all.ratios[4]!.high).toBeGreaterThan(all.ratios[4]!.estimate);
});

test('what each kind of process adds to the processor time of the browser alone adds up to the whole', () => {
  const visits = visitsOf('cable', 'a', { off: [1000, 1000], auto: [1000, 1000] });
  for (const visit of visits.filter(({ arm }) => arm === 'auto'))
    visit.processorMs = { browser: 300, pages: 240, extension: 50, helper: 10 };
  const [figures] = judgeProduct(visits);
  expect(figures!.processor).toBeCloseTo(1.2, 10);
  expect(figures!.processorAdded).toEqual({
    browser: expect.closeTo(0.1, 10),
    pages: expect.closeTo(-0.02, 10),
    extension: expect.closeTo(0.1, 10),
    helper: expect.closeTo(0.02, 10),
  });
  expect(showProduct('chromium', false, [figures!])).toContain('+10.0% −2.0% +10.0% +2.0%');
});

test('memory and a minute at rest stand beside those of the browser alone, measured once or twice', () => {
  const visits = visitsOf('cable', 'a', { off: [1000, 1000], 'off-again': [1000, 1000], auto: [1000, 1000] });
  const none = { browser: 0, pages: 0, extension: 0, helper: 0 };
  for (const visit of visits) {
    const browser = visit.arm === 'off-again' ? 520 : 500;
    visit.memoryMb =
      visit.arm === 'auto' ? { ...none, browser, extension: 60, helper: 30 } : { ...none, browser };
  }
  const last = (arm: string) => visits.findLast((visit) => visit.arm === arm)!;
  last('off').restMs = { ...none, browser: 100 };
  last('off-again').restMs = { ...none, browser: 140 };
  last('auto').restMs = { browser: 130, pages: 0, extension: 40, helper: 60 };
  const [again, auto] = judgeProduct(visits);
  expect(auto!.memory).toEqual({ total: 590, offTotal: 510, own: 90 });
  expect(auto!.rest).toEqual({ total: 230, offTotal: 120, own: 100 });
  expect(again!.rest).toEqual({ total: 140, offTotal: 100, own: 0 });
  const shown = showProduct('chromium', false, [auto!]);
  expect(shown).toContain('510 → 590 MB (own 90)');
  expect(shown).toContain('120 → 230 ms (own 100)');
  expect(judgeProduct(VISITS)[0]).toMatchObject({ memory: null, rest: null });
});

test('each visit is judged by itself', () => {
  const visits = visitsOf('cable', 'a', { off: [1000, 1000], auto: [1000, 500] });
  const [off] = visits;
  const second = visits.find(({ arm, visit }) => arm === 'auto' && visit === 2)!;
  second.processorMs = { ...off!.processorMs, extension: 50, helper: 10 };
  const [figures] = judgeProduct(visits);
  expect(figures!.byVisit).toEqual([
    expect.objectContaining({ visit: 1, ratio: expect.objectContaining({ estimate: 1 }), processor: 1 }),
    expect.objectContaining({
      visit: 2,
      ratio: expect.objectContaining({ estimate: 0.5 }),
      ownProcessorMs: 60,
    }),
  ]);
  expect(figures!.byVisit[1]!.processor).toBeGreaterThan(1);
  expect(showProduct('chromium', false, [figures!])).toMatch(/^2 +−50\.0%.* 60 ms$/m);
});

test('visits that were not made have no figure', () => {
  const once = judgeProduct(visitsOf('cable', 'a', { off: [1000], record: [1010] }));
  expect(once).toHaveLength(1);
  expect(once[0]!.ratios.map((ratio) => ratio?.estimate ?? null)).toEqual([1.01, null, null, null, 1.01]);
  expect(showProduct('chromium', false, once)).toContain('+1.0%');
});

test('an arm has figures of the networks on which it was measured', () => {
  const visits = [...VISITS, ...visitsOf('udp-policed', 'a', { h2: [900, 900, 900] })];
  const names = judgeProduct(visits).map(({ arm, network }) => `${arm} ${network}`);
  expect(names).toEqual(['auto cable', 'auto udp-policed', 'auto all', 'h2 udp-policed']);
});

test('where the browser alone was measured twice, other arms are compared with the geometric mean of both', () => {
  const visits = visitsOf('cable', 'a', {
    off: [1000, 1000],
    'off-again': [1210],
    auto: [1100, 1000],
    h2: [2200, 2000],
  });
  visits.find(({ arm }) => arm === 'off-again')!.disturbedBy = ['a packet was 7 ms late'];
  const [again, auto, h2] = judgeProduct(visits);
  expect(again!.ratios[0]!.estimate).toBeCloseTo(1.21, 10);
  expect(auto!.ratios.slice(0, 2).map((ratio) => ratio!.estimate)).toEqual([expect.closeTo(1, 10), 1]);
  expect(h2!.ratios.at(-1)!.estimate).toBeCloseTo(2, 10);
  expect(auto!.waiting).toBeCloseTo(1, 10);
  expect(auto!.offMs).toBeCloseTo(1050, 10);
  expect(auto!.disturbed).toBe(1);
  // Half of each load time: the mean of 500 and 605, and 500.
  expect(auto!.processor).toBeCloseTo(1050 / 1052.5, 10);
  const { browser, pages } = auto!.processorAdded;
  expect(browser + pages).toBeCloseTo(auto!.processor - 1, 10);
});

test('a visit that other work disturbed is counted', () => {
  const visits = visitsOf('cable', 'a', { off: [1000, 1000], auto: [1000, 1000] });
  visits[0]!.disturbedBy = ['a packet was 7 ms late'];
  expect(judgeProduct(visits)[0]!.disturbed).toBe(1);
});

test('the chart has the figure of each arm on each network, in the colours of a light and of a dark page', async () => {
  const chart = drawProduct('chromium', judgeProduct(VISITS));
  const svg = await standaloneSvg(chart);
  // The geometric means of 1.1, 1, 1, 1, 1, 1; of 1, 0.5, 0.125; of all.
  for (const [network, label] of [
    ['cable', '+1.6%'],
    ['udp-policed', '−60.3%'],
    ['all', '−25.7%'],
  ])
    expect(svg).toContain(`auto on ${network}: ${label}`);
  expect(svg).toContain('prefers-color-scheme: dark');
});
