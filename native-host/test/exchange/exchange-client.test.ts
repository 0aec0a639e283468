import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CreditPool, POOL_BYTES, WINDOW_BYTES } from '../../src/exchange/credit-pool.ts';
import { ExchangeClient } from '../../src/exchange/exchange-client.ts';
import { encodeFrame, FRAME, FrameReader, jsonPayload } from '../../src/exchange/exchange-frames.ts';
import { RunningExchange } from '../../src/exchange/running-exchange.ts';
import { markWriter, SentMarks } from '../../src/exchange/sent-marks.ts';

/** A client with one exchange, and its engine's ends of the pipes. */
function start() {
  const [host, engine] = duplexPair();
  const notes = new SentMarks(2);
  const garbage: Error[] = [];
  const client = new ExchangeClient(host, notes, (fault) => garbage.push(fault));
  const exchange = new RunningExchange(
    { protocol: 'h2', method: 'GET', url: 'https://a.example/', headers: [], body: null },
    new CreditPool().account(),
    () => {},
  );
  client.start(exchange);
  return { client, engine, notes, exchange, garbage };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('an engine that says', () => {
  it.each([
    ['what is no frame', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['what is no JSON', encodeFrame(FRAME.HEAD, 1, Buffer.from('{'))],
    ['what only a host says', encodeFrame(FRAME.REQUEST, 1, jsonPayload({}))],
    ['more than it was granted', encodeFrame(FRAME.BODY, 1, Buffer.alloc(600_000))],
    ['half a credit', encodeFrame(FRAME.CREDIT, 1, Buffer.alloc(2))],
  ])('%s is given up', async (_name, bytes) => {
    const { client, engine, exchange, garbage } = start();
    engine.write(bytes);
    await settled();
    expect(garbage).toHaveLength(1);
    client.close('ended');
    await expect(exchange.head).rejects.toMatchObject({ code: 'engine-died', sent: false });
  });

  it('random bytes do not end the host', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.values(FRAME)),
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        async (kind, payload) => {
          const { client, engine, exchange } = start();
          engine.write(encodeFrame(kind, 1, payload));
          await new Promise((resolve) => setImmediate(resolve));
          client.close('ended');
          exchange.cancel();
        },
      ),
    );
  });

  it('nothing of an exchange that is over is asked no more of it', async () => {
    const { engine, exchange } = start();
    const kinds: number[] = [];
    const reader = new FrameReader({ onFrame: (kind) => kinds.push(kind), onBody: () => {} });
    engine.on('data', (chunk: Buffer) => reader.push(chunk));
    exchange.cancel();
    exchange.cancel();
    engine.write(encodeFrame(FRAME.HEAD, 1, jsonPayload({ status: 200, headers: [] })));
    await settled();
    expect(kinds).toEqual([FRAME.REQUEST, FRAME.CANCEL]);
    await expect(exchange.head).rejects.toMatchObject({ code: 'reset' });
  });
});

it('knows what was sent although the engine ends before its next frame', async () => {
  const { client, notes, exchange } = start();
  expect(exchange.sent).toBe(false);
  markWriter(notes.fd)(0, 1);
  client.close('ended');
  await expect(exchange.trailers).rejects.toMatchObject({ code: 'engine-died', sent: true });
});

it('knows of a cancelled exchange what was noted, and takes no former note for one of the next', async () => {
  const { client, notes, exchange } = start();
  markWriter(notes.fd)(0, 1);
  exchange.cancel();
  expect(exchange.sent).toBe(true);
  const next = new RunningExchange(
    { protocol: 'h2', method: 'GET', url: 'https://a.example/', headers: [], body: null },
    new CreditPool().account(),
    () => {},
  );
  client.start(next);
  expect(next.sent).toBe(false);
  markWriter(notes.fd)(0, 2);
  expect(next.sent).toBe(true);
  client.close('ended');
});

describe('what a response may hold of the memory for all', () => {
  /** A response of some bytes that has ended, with the pool that its memory is of. */
  async function answered() {
    const [host, engine] = duplexPair();
    const client = new ExchangeClient(host, new SentMarks(1), () => {});
    const pool = new CreditPool();
    const exchange = new RunningExchange(
      { protocol: 'h2', method: 'GET', url: 'https://a.example/', headers: [], body: null },
      pool.account(),
      () => {},
    );
    client.start(exchange);
    engine.write(encodeFrame(FRAME.HEAD, 1, jsonPayload({ status: 200, headers: [] })));
    engine.write(encodeFrame(FRAME.BODY, 1, Buffer.alloc(1000)));
    engine.write(encodeFrame(FRAME.END, 1, jsonPayload({ trailers: [], figures: null })));
    await exchange.head;
    await settled();
    expect(exchange.arrivedTrailers).toEqual([]);
    return { exchange, pool };
  }

  /** Whether the pool has all of its memory to give. */
  function isWhole(pool: CreditPool): boolean {
    const accounts = Array.from({ length: POOL_BYTES / WINDOW_BYTES }, () => pool.account());
    return accounts.every((account) => account.grant(0) === WINDOW_BYTES);
  }

  it('is given back when it is taken', async () => {
    const { exchange, pool } = await answered();
    expect(exchange.take()).toHaveLength(1000);
    expect(exchange.take()).toBe(null);
    expect(isWhole(pool)).toBe(true);
  });

  it('is given back when its stream has been read to its end', async () => {
    const { exchange, pool } = await answered();
    const pieces: Buffer[] = [];
    for await (const piece of exchange.body) pieces.push(piece);
    expect(Buffer.concat(pieces)).toHaveLength(1000);
    await settled();
    expect(isWhole(pool)).toBe(true);
  });

  it('is given back when the exchange is cancelled', async () => {
    const { exchange, pool } = await answered();
    exchange.cancel();
    expect(isWhole(pool)).toBe(true);
  });
});
