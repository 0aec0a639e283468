import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkReplay, WANTED_SHARE } from '../src/pages/replay/check.ts';
import { largeHar } from './pages-hars.ts';

describe('a HAR of 1200 requests on 290 origins', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hopwise-large-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is replayed in the lab under every protocol', async () => {
    const file = join(folder, 'large.har');
    await writeFile(file, JSON.stringify(largeHar(1200, 290)));
    const check = await checkReplay(file);
    expect(check).toMatchObject({ beforeLoad: 1200, origins: 291, skipped: 0 });
    for (const protocol of ['h1', 'h2', 'h3'] as const) {
      const load = check.loads[protocol];
      if (!load?.ok) throw new Error(`${protocol}: ${load?.reason ?? 'not loaded'}`);
      expect(load.share, `${protocol}: ${load.missing.slice(0, 5)}`).toBeGreaterThanOrEqual(WANTED_SHARE);
      expect([...load.extra, ...load.misses], protocol).toEqual([]);
      // Chromium has 256 sockets for all origins: beyond those it closes idle ones, at times one that is about to be used.
      expect(load.failed.length, protocol).toBeLessThan(12);
      expect(load.proved, protocol).toBe(true);
    }
  }, 300_000);
});
