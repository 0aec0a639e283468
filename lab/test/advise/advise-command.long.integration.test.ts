import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeSite } from '../../src/sites/write-site.ts';
import { expectKindsJudged } from './support/judged-kinds.ts';
import { smallPage } from './support/small-page.ts';

it('loads a page before and after each advice, and sums up each kind', () =>
  expectKindsJudged('shop', [
    'offer-h2',
    'withdraw-h3',
    'no-redirect',
    'page-cache',
    'compression',
    'one-origin',
  ]));

it('measures what a page gains that waits no longer for its server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopwise-advise-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const page = join(folder, 'small');
  await writeSite(smallPage, page);
  const [judged] = await expectKindsJudged(page, ['page-cache']);
  // 400 ms of a load of less than 2 s.
  expect(judged!.gain).toBeGreaterThan(0.2);
});
