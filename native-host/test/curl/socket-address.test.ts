import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { networkSocketChecker } from '../../src/curl/socket-address.ts';

it.runIf(process.platform === 'linux')("tells the network's sockets from other descriptors", async () => {
  const isOfNetwork = networkSocketChecker();
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { fd } = (socket as unknown as Record<symbol, { handle: { fd: number } }>)[stateOf(socket)]!.handle;
  expect(isOfNetwork(fd)).toBe(true);
  const file = openSync('/dev/null', 'r');
  onTestFinished(() => closeSync(file));
  expect(isOfNetwork(file)).toBe(false);
});

/** Where Node keeps a socket's handle. */
const stateOf = (socket: object): symbol =>
  Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol')!;
