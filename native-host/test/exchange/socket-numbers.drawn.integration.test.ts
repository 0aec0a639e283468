/** A socket that libcurl has closed leaves its number to the next one, while something of it is still being closed. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { serveEngine } from '../support/engine.ts';
import { asking, failure } from './support/exchanges.ts';

const served = serveEngine();
const ask = asking(served);

it.each(['h1', 'h2'] as const)(
  'carries what begins on %s as soon as another connection was reset',
  async (protocol) => {
    const resets = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.resetAndDestroy());
    });
    await once(resets.listen(0, '127.0.0.1'), 'listening');
    const url = `https://localhost:${(resets.address() as AddressInfo).port}/`;
    const each = async (name: number): Promise<void> => {
      for (let times = 0; times < 20; times += 1) {
        const lost = failure(ask(protocol, '/', { url, freshConnection: true }));
        if (times % 2 === 0) await lost;
        const carried = ask(protocol, `/bytes/100000?delay=20&${name}.${times}`, { freshConnection: true });
        expect((await buffer(carried.body)).length).toBe(100_000);
        await lost;
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, name) => each(name)));
    resets.close();
  },
  20_000,
);
