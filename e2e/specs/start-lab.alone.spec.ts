/** `npm start` in the lab: every part is real, every figure is a measured or an emulated one. */
import { expect, test } from '@playwright/test';
import { expectVerdict, expectWholeReport, QUICK, spread } from './report-figures.ts';
import { startReport } from './start-command.ts';

let run: Awaited<ReturnType<typeof startReport>>;
test.beforeAll(async () => {
  run = await startReport(QUICK);
});

test('predicts, verifies and measures the page under each protocol, and proves each protocol', () => {
  const { report, html, stdout } = run;
  expect(report.page.name).toBe('app');
  expect(report.network.set).toMatchObject({ name: 'udp-policed' });
  // After one load HTTP/3 is so far behind that no more are made.
  expectWholeReport(report, { h1: 2, h2: 2, h3: 1 });
  expectVerdict(report, stdout);
  expect(html).toContain('<title>hopwise report</title>');
});

test('by default hopwise keeps the page off HTTP/3, which loads it much faster than the browser’s own choice', () => {
  const { report, stdout } = run;
  const before = spread(report.baseline.measuredMs).median;
  const after = spread(report.assignment.measuredMs).median;
  // 3.7 s and 1.5 s on a quiet machine.
  expect(after).toBeLessThan(0.67 * before);
  // The transfers show the same as the loads: the browser's own choice is the slower one.
  const verified = spread(report.assignment.verifiedMs).median;
  expect(verified).toBeLessThan(0.8 * spread(report.baseline.verifiedMs).median);
  expect(report.decision).toMatchObject({ kind: 'act', action: { kind: 'avoid-h3', worthwhile: true } });
  expect(stdout).toMatch(/^Keep .* off HTTP\/3: [\d.]+ s → (about )?[\d.]+ s \((measured|sure)\)\.$/m);
});
