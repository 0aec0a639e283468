/** `npm start` in the lab: every part is real, every figure is a measured or an emulated one. */

import type { Report } from '@hopwise/extension/report';
import { expect, test } from '@playwright/test';
import { measureUntil } from '../../lab/test/attempts.ts';
import { ordered, PROTOCOLS, QUICK, spread } from './report-figures.ts';
import { startReport } from './start-command.ts';

const medians = (report: Report, kind: 'predictedMs' | 'measuredMs') =>
  PROTOCOLS.map((protocol) => spread(report.protocols[protocol][kind]).median);

let lossy: ReturnType<typeof startReport> | undefined;
/** A run on a lossy link, one for all tests. */
const lossyRun = () => {
  lossy ??= startReport(['--network', 'lossy', ...QUICK]);
  return lossy;
};

test('predicts, verifies and measures the page under each protocol, and proves each protocol', async () => {
  const { report, html, stdout } = await lossyRun();
  expect(report.page.requests).toBeGreaterThanOrEqual(60);
  expect(report.page.origins).toBeGreaterThanOrEqual(4);
  expect(report.network.set).toMatchObject({ name: 'lossy' });
  expect(report.network.estimated.rttMs).toBeGreaterThan(0);
  for (const protocol of PROTOCOLS) {
    const { predictedMs, verifiedMs, measuredMs } = report.protocols[protocol];
    ordered(spread(predictedMs));
    const verified = spread(verifiedMs);
    const measured = spread(measuredMs);
    ordered(verified);
    ordered(measured);
    expect(measured.n).toBe(2);
    expect(measured.requests).toBeGreaterThanOrEqual(2 * 60);
    expect(measured.proved, `${protocol}: requests with nextHopProtocol as forced`).toBe(measured.requests);
    expect(verified.requests).toBeGreaterThanOrEqual(60);
    expect(verified.proved, `${protocol}: transfers with libcurl's version as asked`).toBe(verified.requests);
  }
  expect(report.origins.length).toBeGreaterThanOrEqual(4);
  const { baseline, assignment } = report;
  expect(Object.keys(assignment.protocols)).toHaveLength(report.page.origins);
  ordered(assignment.predictedMs);
  ordered(baseline.predictedMs);
  const verified = spread(baseline.verifiedMs);
  ordered(verified);
  expect(verified.proved, "the browser's own choice: transfers as intended").toBe(verified.requests);
  for (const measuredMs of [baseline.measuredMs, assignment.measuredMs]) {
    const measured = spread(measuredMs);
    ordered(measured);
    expect(measured.n).toBe(2);
    expect(measured.proved).toBe(measured.requests);
  }
  const { h2 = 0, h3 = 0 } = baseline.protocols;
  expect(h2 + h3, 'requests whose protocol the browser chose').toBe(spread(baseline.measuredMs).requests);
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toBe(`${report.decision.verdict}.`);
  expect(lines.at(-1)).toBe(lines[0]);
  expect(stdout).toContain('HTTP/3');
  expect(html).toContain('<title>hopwise report</title>');
});

test('a fast link gives another report than a lossy one', async () => {
  const { report: lossy } = await lossyRun();
  const slower = (report: Report) =>
    (['predictedMs', 'measuredMs'] as const).flatMap((kind) => {
      const before = medians(lossy, kind);
      return medians(report, kind).flatMap((median, index) =>
        median < before[index]! ? [] : [`${kind} ${PROTOCOLS[index]}: ${median}, ${before[index]} if lossy`],
      );
    });
  // A machine that is busy with other things can make any load slow.
  const { report } = await measureUntil(
    () => startReport(['--network', 'fast', ...QUICK]),
    (run) => slower(run.report).length === 0,
    3,
  );
  expect(slower(report)).toEqual([]);
  expect(report.network.estimated.rttMs).toBeLessThan(lossy.network.estimated.rttMs);
});

test('by default hopwise keeps the page off HTTP/3, which loads it much faster than the browser’s own choice', async () => {
  const { report, stdout } = await startReport(QUICK);
  expect(report.page.name).toBe('app');
  expect(report.network.set).toMatchObject({ name: 'udp-policed' });
  const before = spread(report.baseline.measuredMs).median;
  const after = spread(report.assignment.measuredMs).median;
  // 3.7 s and 1.5 s on a quiet machine.
  expect(after).toBeLessThan(0.67 * before);
  // The transfers show the same as the loads: the browser's own choice is the slower one.
  const verified = spread(report.assignment.verifiedMs).median;
  expect(verified).toBeLessThan(0.8 * spread(report.baseline.verifiedMs).median);
  expect(spread(report.protocols.h3.measuredMs)).toMatchObject({ n: 1 });
  expect(report.decision).toMatchObject({ kind: 'act', action: { kind: 'avoid-h3', worthwhile: true } });
  expect(stdout).toMatch(/^Keep .* off HTTP\/3: [\d.]+ s → (about )?[\d.]+ s \((measured|sure)\)\.$/m);
});
