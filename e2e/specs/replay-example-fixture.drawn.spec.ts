/** The example project does what its README says: packed packages, installed by npm outside this checkout. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from '@playwright/test';
import { RegistryUnreachable, ReplayProject } from './replay-project.ts';

test('the example project passes', async () => {
  let project: ReplayProject;
  try {
    project = await ReplayProject.installed(join(ROOT, 'e2e/examples/playwright'));
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    test.skip(true, error.message);
    return;
  }
  try {
    // Real packages, not links into this checkout.
    const installed = await readdir(join(project.folder, 'node_modules/@hopwise'), { withFileTypes: true });
    expect(installed.map((entry) => [entry.name, entry.isDirectory()])).toEqual([
      ['contract', true],
      ['e2e', true],
      ['lab', true],
      ['pageload-emulator', true],
    ]);
    const { code, output } = await project.test();
    expect(code, output).toBe(0);
    const counted = (what: string) => Number(new RegExp(`^ +(\\d+) ${what}\\b`, 'm').exec(output)?.[1] ?? 0);
    expect(counted('passed') + counted('flaky'), output).toBe(5);
    await project.expectNothingLeft();
  } finally {
    await project.remove();
  }
});
