/** A terminated origin whose connections go without a word: pages get what they may get again, and nothing is sent twice. */
import { mkdtempSync } from 'node:fs';
import { constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SilentOrigin } from '../../exchange/support/silent-origin.ts';
import { deafenObstacle } from '../../support/deaf-socket.ts';
import { until } from '../proxy/support/peers.ts';
import { ask2, Pinned } from './support/pinned.ts';

/** In place of 20 s. */
const LIMIT_MS = 2_000;
const FAILED = { rstCode: constants.NGHTTP2_CANCEL };

let folder: string;
let pinned: Pinned;
let origin: SilentOrigin;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-hung-'));
  pinned = await Pinned.start(folder, [], { hungAfterMs: LIMIT_MS });
  origin = await SilentOrigin.start(pinned.origins);
});

afterEach(async () => {
  origin.close();
  await pinned.stop(folder);
});

it.skipIf(deafenObstacle() !== '').each(['h1', 'h2'] as const)('over %s', async (protocol) => {
  await pinned.pin(origin.port, protocol);
  const session = await pinned.http2(origin.port);
  origin.seen.length = 0;
  const get = ask2(session, { ':path': '/wait/60000' });
  const post = ask2(session, { ':path': '/wait/60000', ':method': 'POST' });
  const half = ask2(session, { ':path': '/half/60000' });
  const ends = Promise.allSettled([get, post, half]);
  await until(() => origin.seen.length === 3);
  await origin.vanish();
  expect(await ends).toMatchObject([
    { status: 'fulfilled', value: { status: 200 } },
    { status: 'rejected', reason: FAILED },
    { status: 'rejected', reason: FAILED },
  ]);
  expect(origin.seen.filter((request) => request.startsWith('POST'))).toHaveLength(1);
  expect(pinned.lifted).toEqual([]);
  expect(pinned.terminating.routeConnect('localhost', origin.port).kind).toBe('terminate');
  session.destroy();
});
