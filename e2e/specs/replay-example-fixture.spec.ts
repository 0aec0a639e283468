/** The example project does what its README says, installed from packed packages. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from '@playwright/test';
import { ReplayProject } from './replay-project.ts';

test('the example project passes', async () => {
  const project = await ReplayProject.packed();
  try {
    await cp(join(ROOT, 'e2e/examples/playwright'), project.folder, { recursive: true });
    const { code, output } = await project.test();
    expect(code, output).toBe(0);
    const counted = (what: string) => Number(new RegExp(`^ +(\\d+) ${what}\\b`, 'm').exec(output)?.[1] ?? 0);
    expect(counted('passed') + counted('flaky'), output).toBe(5);
    await project.expectNothingLeft();
  } finally {
    await project.remove();
  }
});
