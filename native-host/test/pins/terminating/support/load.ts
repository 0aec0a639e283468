import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PROTOCOLS } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { growth, MIB } from '../../../support/memory.ts';
import type { Server } from '../../../support/server.ts';
import { answer2, ask2, type Pinned } from './pinned.ts';
import { type ServedPins, servePins } from './served-pins.ts';

const PIECE_BYTES = 64_000;
/** A busy machine collects garbage late. The long form carries more than this. */
const MAX_GROWTH_BYTES = 128 * MIB;

/** How much each protocol has to carry. */
export interface Load {
  downloadMb: number;
  uploadMb: number;
  requests: number;
}

/** Large bodies and many requests over each protocol, in bounded memory. */
export function testLoad({ downloadMb, uploadMb, requests }: Load): void {
  const pieces = (uploadMb * 1_000_000) / PIECE_BYTES;
  let served: ServedPins;
  let server: Server;
  let pinned: Pinned;

  beforeAll(async () => {
    served = await servePins();
    ({ server, pinned } = served);
  });

  afterAll(() => served.stop());

  /** The most that the engine and this process, browser and proxy, grow by together. */
  async function growthOfAll(run: () => Promise<void>): Promise<number> {
    const [grown] = await growth([[process.pid, (await pinned.engine.pid())!]], run);
    return grown!;
  }

  describe.each(PROTOCOLS)('pinned to %s', (protocol) => {
    beforeAll(async () => {
      await pinned.pin(server.port, protocol);
    });

    it(`takes ${downloadMb} MB down in constant memory`, async () => {
      const session = await pinned.http2(server.port);
      const hash = createHash('sha256');
      let digest: unknown;
      const grown = await growthOfAll(async () => {
        const stream = session.request({ ':path': `/random/${downloadMb * 1_000_000}` });
        stream.on('trailers', (trailers) => {
          digest = trailers['x-digest'];
        });
        for await (const chunk of stream) hash.update(chunk as Buffer);
      });
      expect(digest).toBe(hash.digest('hex'));
      expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
      session.destroy();
    });

    it(`takes ${uploadMb} MB up in constant memory`, async () => {
      const session = await pinned.http2(server.port);
      const piece = randomBytes(PIECE_BYTES);
      const hash = createHash('sha256');
      for (let times = 0; times < pieces; times += 1) hash.update(piece);
      const grown = await growthOfAll(async () => {
        const stream = session.request({ ':path': '/digest', ':method': 'PUT' }, { endStream: false });
        const answer = answer2(stream);
        await pipeline(Readable.from(Array(pieces).fill(piece)), stream);
        const { body } = await answer;
        expect(JSON.parse(body.toString())).toMatchObject({
          bytes: pieces * PIECE_BYTES,
          digest: hash.digest('hex'),
        });
      });
      expect(grown).toBeLessThan(64 * MIB);
      session.destroy();
    });

    it('does not read for a browser that does not', async () => {
      const session = await pinned.http2(server.port);
      const grown = await growthOfAll(async () => {
        // Fewer than the connections that HTTP/1.1 has.
        const idle = Array.from({ length: 3 }, () => session.request({ ':path': '/random/30000000' }));
        await Promise.all(idle.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
        await new Promise((resolve) => setTimeout(resolve, 500));
        expect((await ask2(session, { ':path': '/bytes/10' })).body).toHaveLength(10);
        for (const stream of idle) stream.on('error', () => {}).close(8);
      });
      expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
      session.destroy();
    });

    it(`holds ${requests} requests in flight`, async () => {
      const sessions = await Promise.all(Array.from({ length: 10 }, () => pinned.http2(server.port)));
      const grown = await growthOfAll(async () => {
        const answers = await Promise.all(
          Array.from({ length: requests }, (_, index) =>
            ask2(sessions[index % sessions.length]!, { ':path': `/trickle/3000?${index}` }),
          ),
        );
        expect(answers.every(({ body }) => body.length === 3000)).toBe(true);
      });
      expect(grown).toBeLessThan(150 * MIB);
      for (const session of sessions) session.destroy();
    });
  });
}
