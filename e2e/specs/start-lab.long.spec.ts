/** `npm start` in the lab on other networks than the default one. */
import type { Report } from '@hopwise/extension/report';
import { expect, test } from '@playwright/test';
import { measureUntil } from '../../lab/test/support/attempts.ts';
import { expectVerdict, expectWholeReport, PROTOCOLS, QUICK, spread } from './report-figures.ts';
import { startReport } from './start-command.ts';

const medians = (report: Report, kind: 'predictedMs' | 'measuredMs') =>
  PROTOCOLS.map((protocol) => spread(report.protocols[protocol][kind]).median);

let lossy: Awaited<ReturnType<typeof startReport>>;
test.beforeAll(async () => {
  lossy = await startReport(['--network', 'lossy', ...QUICK]);
});

test('on a lossy link, measures the page under each protocol, and proves each protocol', () => {
  const { report, stdout } = lossy;
  expect(report.network.set).toMatchObject({ name: 'lossy' });
  expectWholeReport(report, { h1: 2, h2: 2, h3: 2 });
  expectVerdict(report, stdout);
});

test('a fast link gives another report than a lossy one', async () => {
  const slower = (report: Report) =>
    (['predictedMs', 'measuredMs'] as const).flatMap((kind) => {
      const before = medians(lossy.report, kind);
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
  expect(report.network.estimated.rttMs).toBeLessThan(lossy.report.network.estimated.rttMs);
});
