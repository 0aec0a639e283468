import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../../../../src/base/memory-settings.ts';
import { Companion } from './companion.ts';
import { requestFor } from './origin-request.ts';
import { openTunnel } from './peers.ts';
import type { ProxyState } from './proxy-process.ts';

/** What the proxy's process has open beside its tunnels. */
const OTHER_DESCRIPTORS = 60;
/** In steps, so that no listening queue overflows. */
const AT_ONCE = 100;

/** Limits the wanted tunnels to those that may be open: two descriptors each. Node itself raises the soft limit to the hard one. */
function limited(wanted: number): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  const descriptors = limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
  return Math.min(wanted, Math.floor((descriptors - OTHER_DESCRIPTORS) / 2));
}

const companions: Companion[] = [];
afterEach(async () => {
  for (const companion of companions.splice(0)) await companion.stop();
});

/** Starts a program with the host's settings of its memory. */
async function start(program: string): Promise<Companion> {
  const companion = await Companion.start(program, ['--expose-gc', ...HEAP_ARGUMENTS], MALLOC_SETTINGS);
  companions.push(companion);
  return companion;
}

async function answered(socket: Socket, bytes: number): Promise<void> {
  socket.write(requestFor(bytes));
  for (let got = 0; got < bytes; ) got += ((await once(socket, 'data'))[0] as Buffer).length;
}

/** Opens so many tunnels in a process of its own, uses each, and judges what memory each takes. */
export async function expectCheapTunnels(wanted: number): Promise<void> {
  const proxy = await start('./proxy-process.ts');
  const origin = await start('./origin-process.ts');
  const before = await proxy.ask<ProxyState>();
  const sockets: Socket[] = [];
  const count = limited(wanted);
  while (sockets.length < count) {
    const step = Math.min(AT_ONCE, count - sockets.length);
    sockets.push(
      ...(await Promise.all(
        Array.from({ length: step }, () => openTunnel(proxy.port, `127.0.0.1:${origin.port}`)),
      )),
    );
  }
  const opened = await proxy.ask<ProxyState>();
  expect(opened.open).toBe(count);

  for (let begin = 0; begin < count; begin += AT_ONCE) {
    await Promise.all(sockets.slice(begin, begin + AT_ONCE).map((socket) => answered(socket, 20_000)));
  }
  const used = await proxy.ask<ProxyState>();
  expect(used.open).toBe(count);
  const bytesEach = (used.residentBytes - before.residentBytes) / count;
  process.stdout.write(`${count} tunnels, of ${wanted} wanted: ${(bytesEach / 1024).toFixed(1)} KiB each\n`);
  // 10 KiB are objects; the rest is headroom of the garbage collector.
  expect(bytesEach).toBeLessThan(20 * 1024);

  for (const socket of sockets) socket.destroy();
  const deadline = performance.now() + 60_000;
  while ((await proxy.ask<ProxyState>()).open > 0) expect(performance.now()).toBeLessThan(deadline);
}
