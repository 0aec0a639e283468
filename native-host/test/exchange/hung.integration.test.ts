/** TCP connections whose peer has vanished, and peers that are only silent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalLeafIssuer } from '../../src/ca/leaf-issuer.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { newAuthority } from '../pins/terminating/support/pinned.ts';
import { deafenObstacle } from '../support/deaf-socket.ts';
import { LocalEngine } from '../support/local-engine.ts';
import { failure } from './support/exchanges.ts';
import { SilentOrigin } from './support/silent-origin.ts';

/** In place of 20 s. */
const LIMIT_MS = 2_000;
/** Some looks and probes later than that, on a busy machine. */
const BY_MS = 3 * LIMIT_MS;
/** A silence that means nothing. */
const SILENT_MS = 2.5 * LIMIT_MS;
/** More than the kernel buffers of an upload that is not read. */
const UPLOAD_BYTES = 24 * 1024 * 1024;

let folder: string;
let issuer: LocalLeafIssuer;
let engine: Engine;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-hung-'));
  const authority = await newAuthority(folder);
  issuer = authority.issuer;
  const bundle = join(folder, 'bundle.pem');
  writeFileSync(bundle, authority.root);
  process.env.HOPWISE_CA_FILE = bundle;
  engine = new LocalEngine({ hungAfterMs: LIMIT_MS });
  await engine.start();
});

afterAll(async () => {
  await engine.close();
  delete process.env.HOPWISE_CA_FILE;
  rmSync(folder, { recursive: true });
});

const cannotVanish = deafenObstacle() !== '';

describe.concurrent.each(['h1', 'h2'] as const)('an origin over %s', (protocol) => {
  const served = async (run: (origin: SilentOrigin, ask: Ask) => Promise<void>): Promise<void> => {
    const origin = await SilentOrigin.start(issuer);
    const ask: Ask = (path, method = 'GET', body = null) =>
      engine.exchange({ protocol, method, url: origin.url(path), headers: [], body });
    await run(origin, ask);
    origin.close();
  };
  type Ask = (path: string, method?: string, body?: Readable | null) => Exchange;
  const withinMs = async <T>(limitMs: number, what: Promise<T>): Promise<T> => {
    const began = performance.now();
    const outcome = await what;
    expect(performance.now() - began).toBeLessThan(limitMs);
    return outcome;
  };

  it.skipIf(cannotVanish)(
    'that never acknowledges a request loses it, or gets it again where it may be repeated',
    () =>
      served(async (origin, ask) => {
        await Promise.all(['/1', '/2'].map((path) => buffer(ask(path).body)));
        await origin.vanish();
        const get = buffer(ask('/3').body);
        const fault = await withinMs(BY_MS, failure(ask('/4', 'POST')));
        expect(fault).toMatchObject({ code: 'reset', sent: true });
        expect(await withinMs(BY_MS, get)).toHaveLength(1);
        expect(origin.seen.sort()).toEqual(['GET /1', 'GET /2', 'GET /3']);
      }),
  );

  it.skipIf(cannotVanish)('that falls silent half-way through a response ends it', () =>
    served(async (origin, ask) => {
      const exchange = ask('/half/60000');
      await exchange.head;
      exchange.body.resume();
      await origin.vanish();
      expect(await withinMs(BY_MS, failure(exchange))).toMatchObject({ code: 'reset' });
    }),
  );

  it('that says nothing, or reads nothing of an upload, is waited for', () =>
    served(async (origin, ask) => {
      const path = `/wait/${SILENT_MS}`;
      const pieces = Array.from({ length: UPLOAD_BYTES / 65_536 }, () => Buffer.alloc(65_536));
      const silent = buffer(ask(path).body);
      const upload = await buffer(ask(path, 'POST', Readable.from(pieces)).body);
      expect(upload.toString()).toBe(String(UPLOAD_BYTES));
      expect((await silent).toString()).toBe('0');
      expect(origin.seen).toHaveLength(2);
    }));
});
