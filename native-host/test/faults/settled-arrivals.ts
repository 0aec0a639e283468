import { ModelBrowser } from './model-browser.ts';
import type { Servers } from './servers.ts';

const LIMIT_MS = 20_000;

/**
 * What has reached the servers, by the requests' ids, once all of them have said so.
 *
 * @param name of those that ask
 * @throws Error when one of them does not
 */
export async function settledArrivals(servers: Servers, name: string): Promise<ReadonlyMap<string, number>> {
  const last = `${name}/last`;
  for (const server of servers.all) {
    const browser = new ModelBrowser({
      port: server.port,
      proxy: null,
      alpn: ['h2', 'http/1.1'],
      roots: [server.root],
      clockOffsetMs: () => 0,
    });
    const path = `/bytes/1?id=${encodeURIComponent(last)}`;
    const { failure } = await browser.ask({ method: 'GET' }, () => path, AbortSignal.timeout(LIMIT_MS));
    browser.close();
    if (failure) throw failure;
  }
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const arrivals = await servers.arrivals();
    if ((arrivals.get(last) ?? 0) >= servers.all.length) return arrivals;
    if (performance.now() > deadline) throw new Error('not all servers say what has reached them');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
