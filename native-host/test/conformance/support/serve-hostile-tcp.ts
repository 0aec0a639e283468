import { afterAll, beforeAll } from 'vitest';
import { HostileBrowser } from './hostile-browser.ts';
import { type Bytes, HostileTcpOrigin } from './hostile-tcp-origin.ts';
import { type Served, servePinned } from './serve-pinned.ts';

/** A hostile origin over TLS that is pinned to its protocol, and a browser that asks for it. */
interface ServedHostile {
  served: Served;
  browser: HostileBrowser<Bytes>;
  /** From the hooks on. */
  origin: () => HostileTcpOrigin;
}

/** For all tests of a file, from its hooks on. */
export function serveHostileTcp(protocol: 'h1' | 'h2'): ServedHostile {
  const served = servePinned();
  let origin: HostileTcpOrigin;
  const browser = new HostileBrowser<Bytes>(served, protocol, () => origin);

  beforeAll(async () => {
    origin = await HostileTcpOrigin.listen(served.pinned.origins, protocol);
  });

  afterAll(async () => {
    browser.close();
    await origin.close();
  });

  return { served, browser, origin: () => origin };
}
