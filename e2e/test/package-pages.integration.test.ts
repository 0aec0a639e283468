import { expect, it } from 'vitest';
import { Lab } from '../src/lab/lab.ts';
import { CHECK_NETWORK, checkReplay } from '../src/record/replay-check.ts';
import { chromiumPath } from '../src/start/chromium.ts';
import { openPage } from '../src/start/page-source.ts';

it('replays a page of a registry package, without a miss', { timeout: 120_000 }, async () => {
  const page = await openPage('npm:editor');
  expect(page.name).toBe('npm-editor');
  expect(page.site.resources.length).toBeGreaterThanOrEqual(15);
  const lab = await Lab.up({ site: page.dir, network: CHECK_NETWORK });
  try {
    const executablePath = await lab.wrapper(chromiumPath());
    const check = await checkReplay({
      lab,
      site: page.site,
      executablePath,
      protocol: 'h3',
      timeoutMs: 30_000,
      waitMs: 1000,
    });
    expect(check).toMatchObject({ failure: null, misses: [], notAgain: [], again: check.resources });
  } finally {
    await lab.down();
  }
});

it('says which pages there are', async () => {
  await expect(openPage('npm:nothing')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^npm:nothing: expected npm:agency, /),
  });
  await expect(openPage('npm:constructor')).rejects.toMatchObject({ exitCode: 2 });
});
