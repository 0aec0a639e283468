import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeSite } from '../../src/sites/write-site.ts';
import { advise, expectKindsJudged } from './support/judged-kinds.ts';
import { smallPage } from './support/small-page.ts';

it('loads a page before and after advice of two kinds, and sums up each', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopwise-advise-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const page = join(folder, 'small');
  await writeSite(smallPage, page);
  const judged = await expectKindsJudged(page, ['page-cache', 'one-origin'], '--keep-disturbed');
  expect(judged[0]!.promised).toBeGreaterThan(0);
});

it('refuses an unknown network in one line', () => {
  const { status, stderr } = advise('shop', '--networks', 'lte-por');
  expect(stderr).toMatch(/^hopwise: network "lte-por": expected one of .*\n$/);
  expect(status).toBe(2);
});
