import { expect, it } from 'vitest';
import { openPage } from '../../src/pages/page-source.ts';
import { checkReplay } from '../../src/replay/check-replay.ts';

it.each([
  ['editor', 15],
  ['es-modules', 600],
])(
  'replays the page %s of registry packages, without a miss',
  { timeout: 300_000 },
  async (name, resources) => {
    const page = await openPage(`npm:${name}`);
    expect(page.name).toBe(`npm-${name}`);
    expect(page.site.resources.length).toBeGreaterThanOrEqual(resources);
    const { dir, site } = page;
    const [check] = await checkReplay({ dir, site, protocols: ['h3'], timeoutMs: 60_000, lingerMs: 3000 });
    expect(check).toMatchObject({ failure: null, misses: [], missing: [], share: 1, proved: true });
  },
);

it('lists the available pages', async () => {
  await expect(openPage('npm:nothing')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^npm:nothing: expected npm:agency, /),
  });
  await expect(openPage('npm:constructor')).rejects.toMatchObject({ exitCode: 2 });
});
