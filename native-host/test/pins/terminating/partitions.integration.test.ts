/** Browsers keep the pages of different sites apart by connections of their own. So do pins. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { FaultyLink } from '../../faults/faulty-link.ts';
import type { Server } from '../../support/server.ts';
import { ask2, type Pinned } from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

let served: ServedPins;
let server: Server;
let pinned: Pinned;

beforeAll(async () => {
  served = await servePins();
  ({ server, pinned } = served);
});

afterEach(() => pinned.terminating.close());

afterAll(() => served.stop());

it.each(['h1', 'h2', 'h3', 'auto'] as const)(
  'under a pin to %s each connection of a browser has one to the origin',
  async (kind) => {
    await pinned.pin(server.port, kind);
    const sessions = await Promise.all([pinned.http2(server.port), pinned.http2(server.port)]);
    await server.seen();
    for (const time of [1, 2])
      for (const [at, session] of sessions.entries())
        expect((await ask2(session, { ':path': `/bytes/10/of-${at}?${time}` })).status).toBe(200);
    const seen = await server.seen(4, (path) => path.startsWith('/bytes/10/of-'));
    const clients = [0, 1].map((at) =>
      seen.filter(({ path }) => path.includes(`of-${at}`)).map(({ client }) => client),
    );
    for (const of of clients) expect(of).toEqual([of[0], of[0]]);
    expect(clients[0]![0]).not.toBe(clients[1]![0]);
    for (const session of sessions) session.destroy();
  },
);

it.each(['h1', 'h2'] as const)(
  'under a pin to %s a connection of a browser that ends takes those to the origin along',
  async (kind) => {
    const link = await FaultyLink.open(server.port);
    pinned.connectTo = `localhost:${server.port}:localhost:${link.port}`;
    try {
      await pinned.pin(server.port, kind);
      for (let time = 0; time < 20; time++) {
        const session = await pinned.http2(server.port);
        expect((await ask2(session, { ':path': '/bytes/10' })).status).toBe(200);
        session.destroy();
      }
      // One of the pin itself, which checks the origin.
      await expect.poll(() => link.open, { timeout: 10_000 }).toBeLessThanOrEqual(1);
      // Also where a response was under way.
      const session = await pinned.http2(server.port);
      const broken = ask2(session, { ':path': '/pause/60000' }).catch(() => null);
      await server.seen(1, (path) => path.startsWith('/pause'));
      session.destroy();
      await broken;
      await expect.poll(() => link.open, { timeout: 10_000 }).toBeLessThanOrEqual(1);
    } finally {
      pinned.connectTo = undefined;
      await link.close();
    }
  },
);
