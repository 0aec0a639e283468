/** Servers that an exchange does not reach, or not twice. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PROTOCOLS } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import type { ExchangeError } from '../../src/exchange/exchange.ts';
import { engineTrusting, serveEngine } from '../support/engine.ts';
import { asking, digestOf, failure } from './support/exchanges.ts';

const served = serveEngine();
const ask = asking(served);

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('sends nothing to a server whose certificate it does not know', async () => {
    const other = await served.program.start();
    const exchange = ask(protocol, '/', { method: 'POST', url: other.url('/bytes/10', '127.0.0.1') });
    expect(await failure(exchange)).toMatchObject({ code: 'certificate', sent: false });
    expect(await other.seen()).toEqual([]);
    await other.stop();
  });

  it('sends nothing to a server of another name', async () => {
    const exchange = ask(protocol, '/', {
      url: 'https://wrong.example/bytes/10',
      connectTo: `wrong.example:443:127.0.0.1:${served.server.port}`,
    });
    expect(await failure(exchange)).toMatchObject({ code: 'certificate', sent: false });
    expect(await served.server.seen()).toEqual([]);
  });

  it('connects to the given address', async () => {
    const exchange = ask(protocol, '/', {
      url: 'https://localhost/bytes/10',
      connectTo: `localhost:443:127.0.0.1:${served.server.port}`,
    });
    expect(await buffer(exchange.body)).toHaveLength(10);
    expect((await served.server.seen(1))[0]!.host).toBe('localhost');
  });

  it('reports that nothing was sent to a closed port', async () => {
    const exchange = ask(protocol, '/', { url: 'https://localhost:9/' });
    expect(await failure(exchange)).toMatchObject({ code: 'connect', sent: false, phase: 'waiting' });
    expect(exchange.sent).toBe(false);
  });
});

describe.each(['h2', 'h3'] as const)('%s', (protocol) => {
  it('sends nothing to a server that does not speak it', async () => {
    const others = PROTOCOLS.filter((other) => other !== protocol);
    const other = await served.program.start('-protocols', others.join(','));
    const own = await engineTrusting(other);
    const exchange = own.exchange({ protocol, method: 'POST', url: other.url('/'), headers: [], body: null });
    const code = protocol === 'h2' ? 'protocol' : 'connect';
    expect(await failure(exchange)).toMatchObject({ code, sent: false });
    expect(await other.seen()).toEqual([]);
    await own.close();
    await other.stop();
  });

  it('gets POSTs to a server that takes few at once, and doubles none', async () => {
    const few = await served.program.start('-max-streams', '3');
    const own = await engineTrusting(few);
    const posts = Array.from({ length: 50 }, (_, index) =>
      own.exchange({
        protocol,
        method: 'POST',
        url: few.url(`/digest?delay=20&${index}`, '127.0.0.1'),
        headers: [],
        body: Readable.from([Buffer.from('abc')]),
      }),
    );
    const failed = (await Promise.allSettled(posts.map(digestOf))).flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as ExchangeError] : [],
    );
    // One that may have arrived is not sent again: rarely a connection is given up in that moment.
    expect(failed.length).toBeLessThan(3);
    for (const fault of failed) expect(fault).toMatchObject({ code: 'reset', sent: true });
    const paths = (await few.seen(50 - failed.length)).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.length).toBeGreaterThanOrEqual(50 - failed.length);
    await own.close();
    await few.stop();
  });
});

it('reports a server that requires a client certificate', async () => {
  const strict = await served.program.start('-client-certificates');
  const own = await engineTrusting(strict);
  const url = strict.url('/bytes/10', '127.0.0.1');
  // The server says so after the handshake, and may have closed the connection before it is heard.
  await expect
    .poll(async () => {
      const exchange = own.exchange({ protocol: 'h2', method: 'GET', url, headers: [], body: null });
      return (await failure(exchange)).code;
    })
    .toBe('certificate');
  expect(await strict.seen()).toEqual([]);
  await own.close();
  await strict.stop();
});

describe('a connection that the server has closed', () => {
  it('does not carry a POST twice', async () => {
    await buffer(
      ask('h1', '/once', { connectTo: `localhost:${served.server.port}:127.0.0.1:${served.server.port}` })
        .body,
    );
    await served.server.seen(1);
    const second = ask('h1', '/once', {
      method: 'POST',
      connectTo: `localhost:${served.server.port}:127.0.0.1:${served.server.port}`,
    });
    expect(await failure(second)).toMatchObject({ code: 'reset', sent: true });
    expect(await served.server.seen(1)).toHaveLength(1);
  });

  it('is replaced for a GET', async () => {
    const connectTo = `localhost:${served.server.port}:127.0.0.1:${served.server.port}`;
    await buffer(ask('h1', '/once', { connectTo }).body);
    const second = ask('h1', '/once', { connectTo });
    expect((await second.head).status).toBe(200);
    expect(await served.server.seen(3)).toHaveLength(3);
  });
});
