/** Figures of reports, for the specs of `npm start`. */

import type { RepeatedSpread, Report, TimeSpread } from '@hopwise/extension/report';
import type { Protocol } from '@hopwise/pageload-emulator';
import { expect } from '@playwright/test';

export const PROTOCOLS = ['h1', 'h2', 'h3'] as const;
/** Arguments of a short run. */
export const QUICK = ['--loads', '2', '--rounds', '1'];

/** A time that was predicted or measured. */
export function spread(value: unknown): RepeatedSpread {
  expect(value, JSON.stringify(value)).toMatchObject({
    median: expect.any(Number),
    low: expect.any(Number),
    high: expect.any(Number),
  });
  return value as RepeatedSpread;
}

export function ordered({ low, median, high }: TimeSpread): void {
  expect(low).toBeGreaterThan(0);
  expect(median).toBeGreaterThanOrEqual(low);
  expect(high).toBeGreaterThanOrEqual(median);
}

/**
 * The page was predicted, verified and measured under each protocol, by the browser's own choice and as hopwise decided, and each
 * request is proved to have had its protocol.
 *
 * @param loads of each; a hopeless protocol has fewer
 * @param leastProvedOverH3 share of the browser's requests over HTTP/3
 */
export function expectWholeReport(
  report: Report,
  loads: Record<Protocol, number>,
  { leastProvedOverH3 = 1 } = {},
): void {
  expect(report.page.requests).toBeGreaterThanOrEqual(60);
  expect(report.page.origins).toBeGreaterThanOrEqual(4);
  expect(report.network.estimated.rttMs).toBeGreaterThan(0);
  for (const protocol of PROTOCOLS) {
    const { predictedMs, verifiedMs, measuredMs } = report.protocols[protocol];
    ordered(spread(predictedMs));
    const verified = spread(verifiedMs);
    const measured = spread(measuredMs);
    ordered(verified);
    ordered(measured);
    expect(measured.n).toBe(loads[protocol]);
    expect(measured.requests).toBeGreaterThanOrEqual(loads[protocol] * 60);
    const share = measured.proved / measured.requests;
    const least = protocol === 'h3' ? leastProvedOverH3 : 1;
    expect(share, `${protocol}: share of requests with nextHopProtocol as forced`).toBeGreaterThanOrEqual(
      least,
    );
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
}

/** What `npm start` printed begins and ends with the verdict. */
export function expectVerdict(report: Report, stdout: string): void {
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toBe(`${report.decision.verdict}.`);
  expect(lines.at(-1)).toBe(lines[0]);
  expect(stdout).toContain('HTTP/3');
}
