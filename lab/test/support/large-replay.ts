import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { checkPage } from '../../src/pages/check-page.ts';
import { isFaithful } from '../../src/replay/check-replay.ts';
import { largeHar } from './hars.ts';

/** Replays a HAR with this many requests in the lab under every protocol, and expects no missing or extra requests. */
export async function expectFaithfulReplay(requests: number, origins: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hopwise-large-'));
  try {
    const file = join(folder, 'large.har');
    await writeFile(file, JSON.stringify(largeHar(requests, origins)));
    const protocols = ['h1', 'h2', 'h3'] as const;
    const check = await checkPage(file, { protocols, timeoutMs: 120_000 });
    expect(check).toMatchObject({ requests, origins: origins + 1, recording: { skipped: 0 } });
    expect(check.loads.map(({ protocol }) => protocol)).toEqual(protocols);
    for (const load of check.loads) {
      const { protocol } = load;
      expect(isFaithful(load), `${protocol}: ${load.failure} ${load.missing.slice(0, 5)}`).toBe(true);
      expect(load.extra, protocol).toEqual([]);
      // Chromium has 256 sockets for all origins: beyond those it closes idle ones, sometimes one that is about to be used.
      expect(load.failed.length, protocol).toBeLessThan(12);
      expect(load.proved, protocol).toBe(true);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
