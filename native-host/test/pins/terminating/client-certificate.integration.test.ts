/** Origins that ask browsers for a certificate are left to the browsers. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROTOCOLS } from '@hopwise/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asksForCertificate, ServerFlight } from '../../../src/pins/terminating/client-certificate.ts';
import { type Server, ServerProgram } from '../../support/server.ts';
import { Origin, until } from '../proxy/support/peers.ts';
import { isTerminated, Pinned } from './support/pinned.ts';

const LIMIT_MS = 5_000;

let folder: string;
let program: ServerProgram;
let plain: Server;
let asking: Server;
let insisting: Server;
let pinned: Pinned;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-terminating-'));
  program = new ServerProgram();
  plain = await program.start();
  asking = await program.start('-ask-certificates');
  insisting = await program.start('-client-certificates');
  const caFiles = [plain, asking, insisting].map(({ caFile }) => caFile);
  pinned = await Pinned.start(folder, caFiles);
});

afterAll(async () => {
  await pinned.stop(folder);
  await Promise.all([plain, asking, insisting].map((server) => server.stop()));
  program.remove();
});

function isAsked(port: number, limitMs = LIMIT_MS): Promise<boolean> {
  return asksForCertificate({ host: 'localhost', port, from: 'loopback' }, limitMs);
}

it('detects a server that asks', async () => {
  const asks = [plain, asking, insisting].map(({ port }) => isAsked(port));
  expect(await Promise.all(asks)).toEqual([false, true, true]);
});

it('takes everything else for a server that does not ask', async () => {
  const silent = await Origin.listen(() => {});
  const ending = await Origin.listen((socket) => socket.end());
  const noisy = await Origin.listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  expect(await isAsked(silent.port, 50)).toBe(false);
  expect(await isAsked(ending.port)).toBe(false);
  expect(await isAsked(noisy.port)).toBe(false);
  const { port } = silent;
  await Promise.all([silent, ending, noisy].map((origin) => origin.close()));
  expect(await isAsked(port)).toBe(false);
});

it('reads a flight however it is cut', () => {
  const message = (type: number, bytes: number): Buffer => {
    const header = Buffer.alloc(4 + bytes);
    header.writeUInt32BE(type * 2 ** 24 + bytes);
    return header;
  };
  const sizes = fc.integer({ min: 1, max: 400 });
  fc.assert(
    fc.property(fc.boolean(), sizes, sizes, (asks, recordBytes, cut) => {
      const request = asks ? [message(13, 30)] : [];
      // ServerHello, Certificate, ServerKeyExchange, and ServerHelloDone at the end.
      const flight = Buffer.concat([
        message(2, 80),
        message(11, 2_000),
        message(12, 300),
        ...request,
        message(14, 0),
      ]);
      const records: Buffer[] = [];
      for (let at = 0; at < flight.length; at += recordBytes) {
        const fragment = flight.subarray(at, at + recordBytes);
        records.push(Buffer.from([22, 3, 3, fragment.length >> 8, fragment.length & 0xff]), fragment);
      }
      const bytes = Buffer.concat(records);
      const reader = new ServerFlight();
      const answers: (boolean | null)[] = [];
      for (let at = 0; at < bytes.length; at += cut) answers.push(reader.push(bytes.subarray(at, at + cut)));
      expect(answers.find((answer) => answer !== null)).toBe(asks);
    }),
  );
});

describe.each(PROTOCOLS)('a pin to %s', (protocol) => {
  it.each(['asks', 'insists'])('of an origin that %s is lifted, and the browser is asked', async (what) => {
    const { port } = what === 'asks' ? asking : insisting;
    pinned.lifted.length = 0;
    pinned.terminating.pin('localhost', port, protocol, 'loopback');
    // Where the origin is found to ask before, the trial is not served any more.
    await pinned.showTrust().catch(({ code }) => expect(code).toBe('ECONNRESET'));
    await until(() => pinned.lifted.length > 0);
    expect(pinned.lifted).toEqual([{ port, reason: expect.stringMatching(/asks for a client certificate/) }]);
    const socket = await pinned.connect(port, 'http/1.1');
    expect(isTerminated(socket)).toBe(false);
    socket.destroy();
  });
});
