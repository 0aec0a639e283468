/** Bodies of many megabytes, in both directions, through each pin. */
import { createHash, randomBytes } from 'node:crypto';
import type { ClientHttp2Session } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PROTOCOLS } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer2, ask1, ask2 } from './support/pinned.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

const UP_BYTES = 20_000_000;
const DOWN_BYTES = 100_000_000;

let served: ServedPins;

beforeAll(async () => {
  served = await servePins();
});

afterAll(() => served.stop());

const sha256 = (body: Buffer) => createHash('sha256').update(body).digest('hex');

describe.each(PROTOCOLS)('pinned to %s', (protocol) => {
  beforeAll(() => served.pinned.pin(served.server.port, protocol));

  const withSession = async (use: (session: ClientHttp2Session) => Promise<void>) => {
    const session = await served.pinned.http2(served.server.port);
    try {
      await use(session);
    } finally {
      session.destroy();
    }
  };

  it('20 MB arrive at the origin as they were sent, beside smaller requests', async () => {
    await withSession(async (session) => {
      const body = randomBytes(UP_BYTES);
      const upload = session.request({ ':path': '/digest', ':method': 'POST' }, { endStream: false });
      const answered = answer2(upload);
      // In pieces: Node opens no other stream while it holds more than 10 MB of one.
      const pieces = Array.from({ length: 200 }, (_, i) =>
        body.subarray((i * UP_BYTES) / 200, ((i + 1) * UP_BYTES) / 200),
      );
      const sent = pipeline(Readable.from(pieces), upload);
      for (let i = 0; i < 10; i++)
        expect((await ask2(session, { ':path': '/bytes/1000' })).body).toHaveLength(1000);
      await sent;
      const { bytes, whole, digest } = JSON.parse((await answered).body.toString());
      expect({ bytes, whole, digest }).toEqual({ bytes: UP_BYTES, whole: true, digest: sha256(body) });
    });
    expect(served.pinned.lifted).toEqual([]);
  });

  it('100 MB arrive at the browser as they were sent', async () => {
    await withSession(async (session) => {
      const { body, trailers } = await ask2(session, { ':path': `/random/${DOWN_BYTES}` });
      expect(body).toHaveLength(DOWN_BYTES);
      expect(trailers).toEqual({ 'x-digest': sha256(body) });
    });
    expect(served.pinned.lifted).toEqual([]);
  });

  it('to a browser over HTTP/1.1 too', async () => {
    const socket = await served.pinned.connect(served.server.port, 'http/1.1');
    const headers = { host: `localhost:${served.server.port}` };
    const { body, trailers } = await ask1(socket, { path: `/random/${DOWN_BYTES}`, headers });
    socket.destroy();
    expect(body).toHaveLength(DOWN_BYTES);
    expect(trailers).toEqual({ 'x-digest': sha256(body) });
    expect(served.pinned.lifted).toEqual([]);
  });
});
