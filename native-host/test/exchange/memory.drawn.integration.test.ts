/** Bodies and exchanges in bounded memory. */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { PROTOCOLS } from '@hopwise/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { serveEngine } from '../support/engine.ts';
import { growth, MIB } from '../support/memory.ts';
import { asking, type Digest, digestOf, repeat, sha256 } from './support/exchanges.ts';

const served = serveEngine();
const ask = asking(served);

/** The engine, and the host that asks. */
async function processes(): Promise<number[][]> {
  return [[(await served.engine.pid())!], [process.pid]];
}

describe.each(drawShare(PROTOCOLS, 1))('%s', (protocol) => {
  // The first large body compiles code and fills buffers and the heap's young generation, which then keep their size.
  beforeAll(() => finished(ask(protocol, '/random/64000000').body.resume()));

  it('takes 64 MB down in constant memory', async () => {
    const hash = createHash('sha256');
    const exchange = ask(protocol, '/random/64000000');
    const [engine, host] = await growth(await processes(), async () => {
      for await (const chunk of exchange.body) hash.update(chunk as Buffer);
    });
    expect((await exchange.trailers)[0]![1]).toBe(hash.digest('hex'));
    expect(engine).toBeLessThan(40 * MIB);
    expect(host).toBeLessThan(48 * MIB);
  });

  it.each([
    ['known', true],
    ['unknown', false],
  ])('takes 64 MB of %s length up in constant memory', async (_name, known) => {
    const piece = randomBytes(64_000);
    const hash = createHash('sha256');
    for (let times = 0; times < 1000; times += 1) hash.update(piece);
    const body = Readable.from(repeat(piece, 1000), { objectMode: false });
    const headers: [string, string][] = known ? [['content-length', '64000000']] : [];
    let digest: Digest | null = null;
    const [engine, host] = await growth(await processes(), async () => {
      digest = await digestOf(ask(protocol, '/digest', { method: 'PUT', headers, body }));
    });
    expect(digest).toMatchObject({
      bytes: 64_000_000,
      whole: true,
      digest: hash.digest('hex'),
      length: known ? 64_000_000 : -1,
      method: 'PUT',
    });
    expect(engine).toBeLessThan(40 * MIB);
    expect(host).toBeLessThan(48 * MIB);
  });

  it('waits for a slow reader without holding more, and lets others past', async () => {
    const slow = ask(protocol, '/random/100000000');
    await slow.head;
    const [engine, host] = await growth(await processes(), async () => {
      for (let times = 0; times < 30; times += 1) {
        const size = times * 1000;
        expect(await buffer(ask(protocol, `/random/${size}`).body)).toHaveLength(size);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(slow.body.readableLength).toBeLessThan(MIB);
    });
    expect(host).toBeLessThan(24 * MIB);
    expect(engine).toBeLessThan(48 * MIB);
    const body = await buffer(slow.body);
    expect((await slow.trailers)[0]![1]).toBe(sha256(body));
  });

  it('holds a slow server’s upload back at its source', async () => {
    let taken = 0;
    const body = Readable.from(
      repeat(randomBytes(64_000), 1000, () => {
        taken += 64_000;
      }),
      { objectMode: false, highWaterMark: 64_000 },
    );
    const exchange = ask(protocol, '/silent', { method: 'POST', body });
    await exchange.head;
    await new Promise((resolve) => setTimeout(resolve, 300));
    // What the engine, libcurl and both kernels hold of it.
    expect(taken).toBeLessThan(16_000_000);
    exchange.cancel();
  });
});

it('holds 1,000 exchanges open', async () => {
  const [engine, host] = await growth(await processes(), async () => {
    const open = Array.from({ length: 1000 }, (_, index) =>
      ask(PROTOCOLS[1 + (index % 2)]!, `/trickle/3000?${index}`),
    );
    const bodies = await Promise.all(open.map(({ body }) => buffer(body)));
    expect(bodies.every(({ length }) => length === 3000)).toBe(true);
  });
  expect(engine).toBeLessThan(100 * MIB);
  expect(host).toBeLessThan(100 * MIB);
});
