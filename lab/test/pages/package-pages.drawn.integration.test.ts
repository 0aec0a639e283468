import { expect, it } from 'vitest';
import { openPage } from '../../src/pages/page-source.ts';
import { checkReplay } from '../../src/replay/check-replay.ts';

it('replays a page of a registry package, without a miss', { timeout: 300_000 }, async () => {
  const page = await openPage('npm:editor');
  expect(page.name).toBe('npm-editor');
  expect(page.site.resources.length).toBeGreaterThanOrEqual(15);
  const { dir, site } = page;
  const [check] = await checkReplay({ dir, site, protocols: ['h3'], timeoutMs: 60_000, lingerMs: 3000 });
  expect(check).toMatchObject({ failure: null, misses: [], missing: [], share: 1, proved: true });
});

it('lists the available pages', async () => {
  await expect(openPage('npm:nothing')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^npm:nothing: expected npm:agency, /),
  });
  await expect(openPage('npm:constructor')).rejects.toMatchObject({ exitCode: 2 });
});
