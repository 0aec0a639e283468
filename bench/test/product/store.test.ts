import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { expect, onTestFinished, test } from 'vitest';
import { runProduct } from '../../src/product/run-product.ts';
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

test('visits with the HTTP cache are not put beside those without it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-store-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await addVisits(dir, visitsOf('cable', 'a', { off: [1000] }));
  const plan = {
    browser: 'chromium' as const,
    pages: [],
    networks: [],
    arms: ['off' as const],
    visits: 1,
    seed: 1,
  };
  const run = (usesCache: boolean) =>
    runProduct(dir, { ...plan, usesCache }, { say: () => undefined } as unknown as ProgramContext);
  await expect(run(true)).rejects.toThrow(
    `${dir} has visits without the HTTP cache: expected another folder`,
  );
  expect(await run(false)).toHaveLength(1);
});
