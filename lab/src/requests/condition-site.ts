/** A condition's page as the lab serves it. */
import type { ServerStack } from '../client/server-stack.ts';
import { serversOn } from '../gauntlet/draw-servers.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import { type Condition, ORIGIN } from './draw-condition.ts';

export function conditionSite({ name, server, resources }: Condition, stack: ServerStack): GeneratedSite {
  return {
    site: {
      format: 'hopwise-site',
      version: 1,
      name,
      entry: `${ORIGIN}/`,
      origins: serversOn(stack, [server]),
      resources: resources.map(({ path, bytes, thinkMs }) => ({
        origin: ORIGIN,
        path,
        status: 200,
        headers: { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' },
        body: { filler: 'bytes' as const, bytes },
        thinkMs,
      })),
    },
    files: new Map(),
  };
}
