import { expect } from 'vitest';
import type { Lab, LabLog } from '../../src/client/lab.ts';

/**
 * The requests logged by the lab's servers since the last call, once there are `atLeast`. Servers log a request after sending
 * its answer, which a client may receive first.
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
      { timeout: 60_000 },
    )
    .toBeGreaterThanOrEqual(atLeast);
  return entries;
}
