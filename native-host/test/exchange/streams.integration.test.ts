/** Bodies as they come, in both directions, and what ends them. */
import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { engineTrusting, serveEngine } from '../support/engine.ts';
import { PROTO } from '../support/server.ts';
import { asking, digestOf, failure, sha256 } from './support/exchanges.ts';

/** Half a second, and the rest for a busy machine. Idle connections are kept for two minutes. */
const HEARD_WITHIN_MS = 5_000;

const served = serveEngine();
const ask = asking(served);

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('carries 100 exchanges at once, byte for byte, with their trailers', async () => {
    const sizes = Array.from({ length: 100 }, (_, index) => (index % 10) * 30_011 + index);
    await Promise.all(
      sizes.map(async (size, index) => {
        const exchange = ask(protocol, `/random/${size}?${protocol}-${index}`);
        expect(await exchange.head).toMatchObject({ protocol, status: 200 });
        const body = await buffer(exchange.body);
        expect(body).toHaveLength(size);
        expect(await exchange.trailers).toEqual([[expect.stringMatching(/^x-digest$/i), sha256(body)]]);
        expect(exchange.sent).toBe(true);
      }),
    );
    const seen = await served.server.seen(100, (path) => path.includes(`?${protocol}-`));
    expect(seen).toHaveLength(100);
    expect(new Set(seen.map(({ proto }) => proto))).toEqual(new Set([PROTO[protocol]]));
    expect(new Set(seen.map(({ client }) => client)).size).toBeLessThanOrEqual(protocol === 'h1' ? 6 : 1);
  });

  it('keeps its connections from one exchange to the next', async () => {
    for (let times = 0; times < 5; times += 1) await buffer(ask(protocol, '/bytes/10').body);
    expect(new Set((await served.server.seen(5)).map(({ client }) => client)).size).toBe(1);
  });

  it('waits for a slow source', async () => {
    const body = Readable.from(
      (async function* () {
        for (let times = 0; times < 10; times += 1) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          yield Buffer.from(`${times}`);
        }
      })(),
      { objectMode: false },
    );
    const digest = await digestOf(ask(protocol, '/digest', { method: 'POST', body }));
    expect(digest).toMatchObject({ bytes: 10, digest: sha256(Buffer.from('0123456789')) });
  });

  it('streams in both directions at once', async () => {
    const body = new PassThrough();
    const exchange = ask(protocol, '/echo', { method: 'POST', body });
    await exchange.head;
    const back = exchange.body[Symbol.asyncIterator]();
    for (const words of ['one', 'two', 'three']) {
      body.write(words);
      expect(String((await back.next()).value)).toBe(words);
    }
    const end = performance.now();
    body.end();
    expect((await back.next()).done).toBe(true);
    // libcurl would send it with what its next timer does, after 5 s.
    expect(performance.now() - end).toBeLessThan(4000);
  });

  it('takes an answer that comes before the end of the upload', async () => {
    const body = new PassThrough();
    // More than the server would wait for.
    body.write(randomBytes(1_000_000));
    const exchange = ask(protocol, '/refuse', { method: 'POST', body });
    expect((await exchange.head).status).toBe(413);
    exchange.cancel();
    expect(await buffer(ask(protocol, '/bytes/10').body)).toHaveLength(10);
  });

  it('drops a cancelled exchange, and keeps connections that others use', async () => {
    const before = Number(await buffer(ask(protocol, '/cancelled').body));
    const [first] = await served.server.seen(1);
    const exchange = ask(protocol, '/silent');
    expect(
      String(
        await exchange.body[Symbol.asyncIterator]()
          .next()
          .then(({ value }) => value),
      ),
    ).toBe('a');
    exchange.cancel();
    const fault = await failure(exchange);
    expect(fault).toMatchObject({ code: 'reset', sent: true });
    await expect.poll(async () => Number(await buffer(ask(protocol, '/cancelled').body))).toBe(before + 1);
    const clients = new Set((await served.server.seen(2)).map(({ client }) => client));
    if (protocol !== 'h1') expect(clients).toEqual(new Set([first!.client]));
  });

  it.each(['the last exchange of a connection', 'one of two'])(
    'lets the origin know soon of the end of %s',
    async (which) => {
      // A server of its own: earlier tests' exchanges end late there, too, if they do.
      const server = await served.program.start();
      const engine = await engineTrusting(server);
      const open = (from: Protocol, path: string): Exchange =>
        engine.exchange({ protocol: from, method: 'GET', url: server.url(path), headers: [], body: null });
      const other = which === 'one of two' ? open(protocol, '/silent') : null;
      await other?.head;
      const exchange = open(protocol, '/silent');
      await exchange.head;
      // All that the connection had to send is sent: nothing else takes the reset along.
      await sleep(500);
      exchange.cancel();
      const cancelledMs = performance.now();
      // Over the others' protocol, whose connections this leaves as they are.
      const countCancelled = async (): Promise<string> =>
        (await buffer(open(protocol === 'h1' ? 'h2' : 'h1', '/cancelled').body)).toString();
      while ((await countCancelled()) === '0' && performance.now() - cancelledMs < 10_000) await sleep(10);
      expect(performance.now() - cancelledMs).toBeLessThan(HEARD_WITHIN_MS);
      other?.cancel();
      await engine.close();
      await server.stop();
    },
  );

  it('ends upstream when the source of the body fails', async () => {
    const body = new PassThrough();
    const exchange = ask(protocol, '/silent', { method: 'POST', body });
    body.write('a');
    await exchange.head;
    body.destroy(new Error('the browser has gone'));
    expect(await failure(exchange)).toMatchObject({ code: 'reset', sent: true });
    expect(await buffer(ask(protocol, '/bytes/10').body)).toHaveLength(10);
  });

  it('harms no download by cancelling uploads', async () => {
    const download = ask(protocol, '/trickle/50000');
    await download.head;
    for (let times = 0; times < 5; times += 1) {
      const body = new PassThrough();
      body.write(randomBytes(400_000));
      const upload = ask(protocol, '/silent', { method: 'POST', body });
      await upload.head;
      upload.cancel();
    }
    expect(await buffer(download.body)).toHaveLength(50_000);
  });

  it('reports a response that breaks off', async () => {
    const exchange = ask(protocol, '/cut/100000');
    expect((await exchange.head).status).toBe(200);
    await expect(buffer(exchange.body)).rejects.toMatchObject({ code: 'reset', sent: true });
    expect(await failure(exchange)).toMatchObject({ code: 'reset', sent: true });
    expect(await buffer(ask(protocol, '/bytes/10').body)).toHaveLength(10);
  });
});
