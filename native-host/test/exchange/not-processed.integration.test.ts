/** Requests that the origin says it has not acted on, and connections made for one exchange. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { engineTrusting, serveEngine } from '../support/engine.ts';
import type { Server } from '../support/server.ts';
import { asking, failure } from './support/exchanges.ts';

/** So much of a request's body is kept in case it has to be sent again. */
const KEPT_BYTES = 64 * 1024;

const served = serveEngine();
const ask = asking(served);
let refusing: Server;
let own: Engine;

beforeAll(async () => {
  refusing = await served.program.start('-refusing');
  own = await engineTrusting(refusing);
});

afterAll(async () => {
  await own.close();
  await refusing.stop();
});

function post(protocol: Protocol, path: string, bytes: number): Exchange {
  const body = bytes > 0 ? Readable.from([Buffer.alloc(bytes)]) : null;
  return own.exchange({ protocol, method: 'POST', url: refusing.url(path), headers: [], body });
}

describe.each(['refused', 'goaway'])('a POST over HTTP/2 that is %s', (kind) => {
  it.each([0, 10, 500_000])('with %i bytes is sent again, on another connection', async (bytes) => {
    await refusing.seen();
    const exchange = post('h2', `/${kind}/${bytes}`, bytes);
    const answer = await buffer(exchange.body).then(String, (fault: unknown) => fault);
    if (bytes > KEPT_BYTES && typeof answer !== 'string') {
      // Where the origin's word comes late, more has been sent than is kept.
      expect(answer).toMatchObject({ sent: false });
      return;
    }
    expect(answer).toBe(String(bytes));
    const seen = await refusing.seen(2);
    expect(new Set(seen.map(({ client }) => client)).size).toBe(2);
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });
});

it('a POST over HTTP/2 that is refused with more than is kept of its body is not sent', async () => {
  const exchange = post('h2', '/late/5000000', 5_000_000);
  expect(await failure(exchange)).toMatchObject({ sent: false });
  expect((await buffer(post('h2', '/late/5000000', 10).body)).toString()).toBe('10');
});

/**
 * The origin rejects by STOP_SENDING and RESET_STREAM. When the first comes in a packet of its own, libcurl fails before it knows of the
 * rejection: the request then counts as sent, which is safe.
 */
const ATTEMPTS = 3;

it.each([0, 10, 500_000])('a POST over HTTP/3 with %i bytes that is rejected is not sent', async (bytes) => {
  await refusing.seen();
  const sent: boolean[] = [];
  while (sent.length < ATTEMPTS && !sent.includes(false)) {
    const path = `/rejected/${bytes}?${sent.length}`;
    const fault = await failure(post('h3', path, bytes));
    expect(fault.code).toBe('reset');
    sent.push(fault.sent);
    expect((await buffer(post('h3', path, bytes).body)).toString()).toBe(String(bytes));
    expect(await refusing.seen(2)).toHaveLength(2);
  }
  expect(sent).toContain(false);
});

it.each(['h2', 'h3'] as const)(
  'a POST over %s whose stream is reset otherwise may have been acted on',
  async (protocol) => {
    const exchange = ask(protocol, '/abort', { method: 'POST' });
    expect(await failure(exchange)).toMatchObject({ code: 'reset', sent: true });
    expect(await served.server.seen(1)).toHaveLength(1);
  },
);

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('makes a connection for the exchange that wants its own, and no other uses it', async () => {
    for (const freshConnection of [false, true, false, true]) {
      await buffer(ask(protocol, '/bytes/10', { freshConnection }).body);
    }
    const [kept, fresh, again, other] = (await served.server.seen(4)).map(({ client }) => client);
    expect(again).toBe(kept);
    expect(new Set([kept, fresh, other]).size).toBe(3);
  });
});
