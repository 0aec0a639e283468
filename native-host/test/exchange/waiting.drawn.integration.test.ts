/** Servers that allow few concurrent requests, and slow readers. */
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { engineTrusting, serveEngine } from '../support/engine.ts';
import type { Server } from '../support/server.ts';
import { asking, failure } from './support/exchanges.ts';

const STREAMS = 3;
/** What an origin gets at most: connections of HTTP/1.1, or streams on the connections of the others. */
const AT_ONCE: Record<Protocol, number> = { h1: 6, h2: 4 * STREAMS, h3: 4 * STREAMS };
/** Longer than the time limit for connections, and than an idle connection of HTTP/3 is used for a POST. */
const LONG_MS = 10_500;
/** How soon users expect a response. */
const SOON_MS = 1_000;

const served = serveEngine();
const ask = asking(served);
let few: Server;
let own: Engine;

beforeAll(async () => {
  few = await served.program.start('-max-streams', String(STREAMS));
  own = await engineTrusting(few);
  await Promise.all([openAll('h2'), openAll('h3')]);
});

afterAll(async () => {
  await own.close();
  await few.stop();
});

function askFew(protocol: Protocol, path: string): Exchange {
  return own.exchange({ protocol, method: 'GET', url: few.url(path), headers: [], body: null });
}

/** Opens all connections, one after the other: on a new one libcurl asks for more than the server's settings of HTTP/2 allow. */
async function openAll(protocol: Protocol): Promise<void> {
  const open: Exchange[] = [];
  while (open.length < AT_ONCE[protocol]) {
    open.push(askFew(protocol, `/silent?${open.length}`));
    await open.at(-1)!.head;
  }
  for (const exchange of open) exchange.cancel();
}

async function timed(exchange: Exchange): Promise<number> {
  const began = performance.now();
  await buffer(exchange.body);
  return performance.now() - began;
}

/** Everything has arrived that may arrive of a response that is not read. */
async function standstill({ body }: Exchange): Promise<void> {
  let before: number;
  do {
    before = body.readableLength;
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (before === 0 || body.readableLength > before);
}

// These wait for limits of many seconds to be over, so they do it together.
it.concurrent('waits for a stream, or a connection of HTTP/1.1, for longer than it would for connecting', async () => {
  await Promise.all(
    PROTOCOLS.map(async (protocol) => {
      const first = Array.from({ length: AT_ONCE[protocol] }, (_, index) =>
        askFew(protocol, `/bytes/10?delay=${LONG_MS}&${index}`),
      );
      const last = askFew(protocol, '/bytes/10?last');
      for (const exchange of [...first, last]) expect(await buffer(exchange.body)).toHaveLength(10);
    }),
  );
});

it.concurrent('fails all exchanges that wait for a connection which cannot be established', async () => {
  const silent = await served.program.start('-protocols', 'h1', '-silent-udp');
  const began = performance.now();
  const faults = await Promise.all(
    Array.from({ length: 20 }, () => failure(ask('h3', '/', { url: silent.url('/') }))),
  );
  for (const fault of faults) expect(fault).toMatchObject({ code: 'timeout', sent: false });
  expect(performance.now() - began).toBeLessThan(2 * 5_000);
  await silent.stop();
});

it.concurrent('sends a POST over HTTP/3 on no connection that has been idle for 10 s, but a GET', async ({
  expect,
}) => {
  const server = await served.program.start();
  const engine = await engineTrusting(server);
  const send = async (method: string): Promise<string> => {
    const url = server.url('/bytes/10');
    await buffer(engine.exchange({ protocol: 'h3', method, url, headers: [], body: null }).body);
    return (await server.seen(1))[0]!.client;
  };
  const first = await send('GET');
  await sleep(LONG_MS);
  expect(await send('GET')).toBe(first);
  await sleep(LONG_MS);
  expect(await send('POST')).not.toBe(first);
  await engine.close();
  await server.stop();
});

it.concurrent('ends the exchange of a slow reader that blocks another on HTTP/3', async ({ expect }) => {
  const stuck = ask('h3', '/random/200000000');
  const events = ask('h3', '/trickle/50000000');
  try {
    await Promise.all([stuck.head, events.head]);
    let came = 0;
    events.body.on('data', (chunk: Buffer) => {
      came += chunk.length;
    });
    expect(await failure(stuck)).toMatchObject({ code: 'reset', sent: true });
    const then = came;
    await expect.poll(() => came).toBeGreaterThan(then + 20_000);
  } finally {
    events.cancel();
  }
});

it('waits no longer for a connection after an exchange that had one', async () => {
  const server = await served.program.start();
  const engine = await engineTrusting(server);
  const get = {
    protocol: 'h3',
    method: 'GET',
    url: server.url('/bytes/10'),
    headers: [],
    body: null,
  } as const;
  await buffer(engine.exchange(get).body);
  server.hang();
  const began = performance.now();
  const fault = await failure(engine.exchange({ ...get, freshConnection: true }));
  expect(fault).toMatchObject({ code: 'timeout', sent: false });
  expect(performance.now() - began).toBeLessThan(2 * 5_000);
  await engine.close();
  await server.stop();
});

it.each([1, 10])(
  'carries a burst over HTTP/2 to a server that allows a stream count of %i',
  async (streams) => {
    const server = await served.program.start('-max-streams', String(streams));
    const engine = await engineTrusting(server);
    const bodies = Array.from({ length: 100 }, (_, index) => {
      const url = server.url(`/bytes/10?delay=5&${index}`);
      return buffer(engine.exchange({ protocol: 'h2', method: 'GET', url, headers: [], body: null }).body);
    });
    for (const body of await Promise.all(bodies)) expect(body).toHaveLength(10);
    const clients = (await server.seen(100)).map(({ client }) => client);
    expect(clients).toHaveLength(100);
    expect(new Set(clients).size).toBeLessThanOrEqual(4);
    await engine.close();
    await server.stop();
  },
);

describe.each(['h2', 'h3'] as const)('%s', (protocol) => {
  it('uses another connection when no stream becomes free', async ({ onTestFinished }) => {
    await few.seen();
    const open = Array.from({ length: AT_ONCE[protocol] - 1 }, (_, index) =>
      askFew(protocol, `/silent?${index}`),
    );
    onTestFinished(() => {
      for (const exchange of open) exchange.cancel();
    });
    await Promise.all(open.map(({ head }) => head));
    const clients = (await few.seen(open.length)).map(({ client }) => client);
    const full = clients.filter((client) => clients.filter((each) => each === client).length === STREAMS);
    expect(new Set(full).size).toBe(AT_ONCE[protocol] / STREAMS - 1);
    expect(await timed(askFew(protocol, '/bytes/10'))).toBeLessThan(SOON_MS);
    expect(full).not.toContain((await few.seen(1))[0]!.client);
  });

  it('sends each request once, on few connections', async () => {
    await few.seen();
    const paths = Array.from({ length: 200 }, (_, index) => `/bytes/10?delay=1&${index}`);
    for (const body of await Promise.all(paths.map((path) => buffer(askFew(protocol, path).body)))) {
      expect(body).toHaveLength(10);
    }
    const seen = await few.seen(paths.length);
    expect(seen.map(({ path }) => path).sort()).toEqual([...paths].sort());
    // libcurl 8.14 gives a connection of HTTP/3 up that has no stream left when nothing else is under way on it.
    if (protocol === 'h2') expect(new Set(seen.map(({ client }) => client)).size).toBeLessThanOrEqual(4);
  });

  it('uses streams that are free again, on whichever connection', async () => {
    for (let times = 0; times < 4; times += 1) {
      const open = Array.from({ length: AT_ONCE[protocol] }, (_, index) =>
        askFew(protocol, `/silent?${index}`),
      );
      await Promise.all(open.map(({ head }) => head));
      for (const exchange of open) exchange.cancel();
    }
  });

  it('removes a cancelled exchange from the queue, and starts the next', async () => {
    const open = Array.from({ length: AT_ONCE[protocol] }, (_, index) =>
      askFew(protocol, `/silent?${index}`),
    );
    await Promise.all(open.map(({ head }) => head));
    const waiting = Array.from({ length: 20 }, (_, index) => askFew(protocol, `/bytes/10?waiting-${index}`));
    for (const exchange of waiting.slice(0, 15)) {
      exchange.cancel();
      expect(await failure(exchange)).toMatchObject({ code: 'reset', sent: false });
    }
    open[0]!.cancel();
    for (const exchange of waiting.slice(15)) expect(await buffer(exchange.body)).toHaveLength(10);
    expect(await few.seen(5, (path) => path.includes('waiting'))).toHaveLength(5);
    for (const exchange of open) exchange.cancel();
  });

  it.each(drawShare([3, 10, 50], 1))(
    'answers soon beside %i readers that take nothing, one after the other',
    async (readers) => {
      const slow: Exchange[] = [];
      const times: number[] = [];
      for (let index = 0; index < readers; index += 1) {
        const reader = ask(protocol, `/random/40000000?${index}`);
        slow.push(reader);
        await standstill(reader);
        // They have libcurl read on.
        for (let turn = 0; turn < 4; turn += 1) times.push(await timed(ask(protocol, '/bytes/10')));
      }
      expect(Math.max(...times)).toBeLessThan(SOON_MS);
      for (const exchange of slow) exchange.cancel();
    },
  );
});

it('has streams of HTTP/3 for burst after burst, whatever of them is cancelled', async () => {
  for (let times = 0; times < 8; times += 1) {
    const short = Array.from({ length: 100 }, (_, index) => askFew('h3', `/bytes/10?${index}`));
    for (const exchange of short) expect(await buffer(exchange.body)).toHaveLength(10);
    for (let again = 0; again < 4; again += 1) {
      const open = Array.from({ length: AT_ONCE.h3 }, (_, index) => askFew('h3', `/silent?${index}`));
      await Promise.all(open.map(({ head }) => head));
      for (const exchange of open) exchange.cancel();
    }
  }
});

it('uses no connection that the server is about to close, and completes the exchanges on it', async () => {
  const open = ask('h2', '/silent');
  await open.head;
  expect(await buffer(ask('h2', '/goaway').body)).toHaveLength(0);
  for (let times = 0; times < 3; times += 1)
    expect(await timed(ask('h2', '/bytes/10'))).toBeLessThan(SOON_MS);
  const [silent, , ...others] = (await served.server.seen(5)).map(({ client }) => client);
  expect(new Set(others).size).toBe(1);
  expect(others).not.toContain(silent);
  open.cancel();
  expect(await failure(open)).toMatchObject({ code: 'reset', message: 'cancelled' });
});
