/**
 * `npm start -- URL`: the live run. The network it runs on is the lab's: the whole command runs inside the client's
 * namespaces and knows nothing of the lab but a CA to trust.
 */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isUnavailable } from '@hopwise/extension/report';
import { Lab } from '@hopwise/lab/client/lab';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { openPage } from '@hopwise/lab/pages/page-source';
import { expect, test } from '@playwright/test';
import { start, startReport } from './start-command.ts';

// Both tests use one lab.
test.describe.configure({ mode: 'default' });

let lab: Lab;
let entry: string;

test.beforeAll(async () => {
  const page = await openPage('app');
  entry = page.site.entry;
  lab = await Lab.up({ site: page.dir, network: networkOf(profileNamed('cable'), 1) });
});
test.afterAll(() => lab?.down());

test('records, predicts and verifies a page of the network it runs on', async () => {
  const { report, stdout } = await startReport([entry, '--ca', lab.caFile, '--rounds', '1'], {
    prefix: lab.enterCommand([]),
  });
  expect(report.mode).toBe('live');
  expect(report.network.set).toBeNull();
  expect(report.page.url).toBe(entry);
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    const { predictedMs, verifiedMs, measuredMs } = report.protocols[protocol];
    expect(isUnavailable(predictedMs)).toBe(false);
    expect(isUnavailable(verifiedMs), JSON.stringify(verifiedMs)).toBe(false);
    expect(measuredMs).toBeNull();
  }
  expect(stdout).not.toContain('measured (Chromium)');
  // The link was set to 28 ms: what the recording and the transfers show must be near it.
  expect(report.network.estimated.rttMs).toBeGreaterThan(26);
  expect(report.network.estimated.rttMs).toBeLessThan(34);
});

test('a server whose certificate is signed by an unknown authority', async () => {
  // Nothing is written: the page cannot be loaded.
  const ended = await start([entry, '--rounds', '1', '--out', join(tmpdir(), 'hw-never')], {
    prefix: lab.enterCommand([]),
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/hopwise: .*ERR_CERT_AUTHORITY_INVALID/);
});
