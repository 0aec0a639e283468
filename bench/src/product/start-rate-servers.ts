/** The servers of runs in which some begin at the rate that the browser announces. */
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerStack } from '@hopwise/lab/client/server-stack';
import { UserError } from '@hopwise/lab/command/errors';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import type { Site } from '@hopwise/lab/sites/site';
import { siteKey } from '@hopwise/pageload-emulator/site';
import { ARMS, type ArmSettings, type ProductArm } from './arms.ts';

/** Above every link's rate: a window is spread over its round trip, and nothing else limits the rate. */
const PACING_MBPS = 10_000;

type SiteOrigin = Site['origins'][number];
type StartProtocol = NonNullable<ArmSettings['startsAtRate']>;

const protocolOf = (arm: ProductArm): StartProtocol | undefined => {
  const { startsAtRate }: ArmSettings = ARMS[arm];
  return startsAtRate;
};

/** @throws UserError where arms need different servers */
function protocolOfRun(arms: readonly ProductArm[]): StartProtocol | undefined {
  const protocols = [...new Set(arms.flatMap((arm) => protocolOf(arm) ?? []))];
  if (protocols.length > 1)
    throw new UserError(
      '--arms: expected one of start-rate and start-rate-h3, whose servers differ, got both',
      2,
    );
  return protocols[0];
}

/** @throws UserError as for `protocolOfRun` */
export const stackOf = (arms: readonly ProductArm[]): ServerStack =>
  protocolOfRun(arms) === 'h3' ? 'nginx-quiche' : 'go';

/**
 * Writes the sites that arms are served where one of them has servers that begin at a rate: those of the page's own site, as the rate is not
 * announced to others (RFC 8942, section 4.1). All have the same servers otherwise: over TCP the
 * Go servers, which pace and offer no HTTP/3, as they do not begin at a rate over it; over HTTP/3 quiche at all origins, beside nginx, which
 * always begins in the usual way. What a server knows of its clients' rates outlasts the change from one site to another, as it does on the web.
 *
 * @param dir of the run
 * @returns the folder that an arm is served
 */
export async function writeServed(
  dir: string,
  page: PageSource,
  arms: readonly ProductArm[],
): Promise<(arm: ProductArm) => string> {
  const protocol = protocolOfRun(arms);
  if (protocol === undefined) return () => page.dir;
  const folderOf = (startRate: boolean) => join(dir, 'served', page.name, startRate ? 'start-rate' : 'usual');
  for (const startRate of [true, false]) {
    const folder = folderOf(startRate);
    await rm(folder, { recursive: true, force: true });
    await cp(page.dir, folder, { recursive: true });
    const site = siteKey(page.site.entry);
    const origins = page.site.origins.map((origin) =>
      serve(origin, protocol, startRate && siteKey(origin.origin) === site),
    );
    await writeFile(join(folder, 'site.json'), JSON.stringify({ ...page.site, origins }));
  }
  return (arm) => folderOf(protocolOf(arm) !== undefined);
}

function serve(origin: SiteOrigin, protocol: StartProtocol, startRate: boolean): SiteOrigin {
  const others = origin.protocols.filter((each) => each !== 'h3');
  return protocol === 'h3'
    ? { ...origin, protocols: [...others, 'h3'], startRate }
    : { ...origin, protocols: others, startRate, pacingMbps: PACING_MBPS };
}
