import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addVisits, readVisits } from '../../src/product/store.ts';
import { visitsOf } from '../support/product-visits.ts';

test('visits of both browsers stand in one folder; those that name none are Chromium’s', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-store-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const [first, second] = visitsOf('cable', 'a', { off: [1000, 1100] });
  const { browser: _, ...unnamed } = first!;
  await writeFile(join(dir, 'product.jsonl'), `${JSON.stringify(unnamed)}\n`);
  const other = { ...second!, browser: 'firefox' as const };
  await addVisits(dir, [other]);
  expect(await readVisits(dir)).toEqual([first, other]);
});
