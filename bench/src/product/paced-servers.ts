/** The servers of arms that are compared with one whose servers begin at the rate that the browser announces. */
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import { ARMS, type ArmSettings, type ProductArm } from './arms.ts';

/** Above every link's rate: a window is spread over its round trip, and nothing else limits the rate. */
const PACING_MBPS = 10_000;

const startsAtRate = (arm: ProductArm): boolean => {
  const { serversStartAtRate = false }: ArmSettings = ARMS[arm];
  return serversStartAtRate;
};

/**
 * Writes the sites that arms are served where one of them has servers that begin at a rate: those of all pace and offer no HTTP/3, as the lab
 * begins at a rate over TCP. What a server knows of its clients' rates outlasts the change from one site to another, as it does on the web.
 *
 * @param dir of the run
 * @returns the folder that an arm is served
 */
export async function writeServed(
  dir: string,
  page: PageSource,
  arms: readonly ProductArm[],
): Promise<(arm: ProductArm) => string> {
  if (!arms.some(startsAtRate)) return () => page.dir;
  const folderOf = (startRate: boolean) => join(dir, 'paced', page.name, startRate ? 'start-rate' : 'usual');
  for (const startRate of [true, false]) {
    const folder = folderOf(startRate);
    await rm(folder, { recursive: true, force: true });
    await cp(page.dir, folder, { recursive: true });
    const origins = page.site.origins.map((origin) => ({
      ...origin,
      protocols: origin.protocols.filter((each) => each !== 'h3'),
      pacingMbps: PACING_MBPS,
      startRate,
    }));
    await writeFile(join(folder, 'site.json'), JSON.stringify({ ...page.site, origins }));
  }
  return (arm) => folderOf(startsAtRate(arm));
}
