/** Problems of the machine that the engine runs on. */
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PROTOCOLS } from '@hopwise/contract';
import { expect, it } from 'vitest';
import { serveEngine } from '../support/engine.ts';
import { LocalEngine } from '../support/local-engine.ts';
import { asking, digestOf, failure } from './support/exchanges.ts';

const served = serveEngine();
const ask = asking(served);

/** Debian's own, without HTTP/3 up to Debian 12. */
const SYSTEM_LIBCURL = '/usr/lib/x86_64-linux-gnu/libcurl.so.4';

it('continues exchanges in progress after its process was stopped', async () => {
  const pid = (await served.engine.pid())!;
  const downloads = PROTOCOLS.map((protocol) => ask(protocol, '/random/5000000'));
  await Promise.all(downloads.map(({ head }) => head));
  process.kill(pid, 'SIGSTOP');
  const late = PROTOCOLS.map((protocol) => ask(protocol, '/bytes/10'));
  let answered = 0;
  for (const { head } of late) head.then(() => (answered += 1));
  // Longer than any of QUIC's timers on this path, as in a machine's sleep.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(answered).toBe(0);
  process.kill(pid, 'SIGCONT');
  for (const { body } of downloads) expect(await buffer(body)).toHaveLength(5_000_000);
  for (const { body } of late) expect(await buffer(body)).toHaveLength(10);
  expect(await served.engine.pid()).toBe(pid);
});

it.skipIf(!existsSync(SYSTEM_LIBCURL))('does without HTTP/3 where libcurl has none', async () => {
  const own = new LocalEngine({ libcurl: SYSTEM_LIBCURL });
  const { http3 } = await own.start();
  const request = { method: 'POST', url: served.server.url('/digest'), headers: [] };
  const post = (protocol: 'h1' | 'h2' | 'h3') =>
    own.exchange({ ...request, protocol, body: Readable.from([Buffer.from('abc')]) });
  for (const protocol of ['h1', 'h2'] as const) {
    expect(await digestOf(post(protocol))).toMatchObject({ bytes: 3, method: 'POST' });
  }
  if (!http3) expect(await failure(post('h3'))).toMatchObject({ code: 'refused-locally', sent: false });
  await own.close();
});
