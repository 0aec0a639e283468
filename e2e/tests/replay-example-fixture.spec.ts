/** The example project does what its README says, installed from packed packages. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ROOT } from '../src/paths.ts';
import { ReplayProject } from './replay-project.ts';

test('the example project passes', async () => {
  const project = await ReplayProject.packed();
  try {
    await cp(join(ROOT, 'e2e/examples/playwright'), project.folder, { recursive: true });
    const { code, output } = await project.test();
    expect(code, output).toBe(0);
    expect(output).toContain('5 passed');
    expect(await project.processes()).toEqual([]);
    expect(await project.leftovers()).toEqual([]);
  } finally {
    await project.remove();
  }
});
