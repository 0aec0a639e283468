import { expect } from 'vitest';
import type { Lab, LabLog } from '../src/client/lab.ts';

/**
 * What the lab's servers have logged since the last call, once it is `atLeast` requests. They write a request down
 * when its answer has gone, which a client may see first.
 */
export async function logged(lab: Lab, atLeast: number): Promise<LabLog['entries']> {
  const entries: LabLog['entries'] = [];
  await expect
    .poll(
      async () => {
        const log = await lab.log();
        expect(log.dropped).toBe(0);
        entries.push(...log.entries);
        return entries.length;
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(atLeast);
  return entries;
}
