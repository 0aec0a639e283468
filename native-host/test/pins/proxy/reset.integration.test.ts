import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { reset } from '../../../src/pins/proxy/reset.ts';
import { hear, Origin } from './support/peers.ts';

let origin: Origin;
let heard: ReturnType<typeof hear>;

beforeEach(async () => {
  origin = await Origin.listen((socket) => {
    heard = hear(socket);
  });
});

afterEach(() => origin.close());

it.each(['before', 'while', 'after'])('ends a connection %s its end goes out', async (when) => {
  const socket = connect({ port: origin.port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  // What it has not read keeps it from ending by itself.
  await expect.poll(() => origin.sockets.size).toBe(1);
  const closed = once(socket, 'close');
  if (when !== 'before') socket.end();
  if (when === 'after') await once(socket, 'finish');
  reset(socket);
  await closed;
  if (when === 'before') expect((await heard).reset).toBe(true);
});
