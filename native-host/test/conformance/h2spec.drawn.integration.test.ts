/** HTTP/2 of the browser's side, by h2spec (github.com/summerwind/h2spec). */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Pinned } from '../pins/terminating/support/pinned.ts';
import { servePinned } from './support/serve-pinned.ts';

const CLOSED = 'nghttp2, as Node has it, keeps nothing of closed streams and ignores frames on them';
const PRIORITY =
  'RFC 9113 section 5.3 does away with priorities; nghttp2 ignores the frames, whatever they say';

/** What HTTP/2 of Node does otherwise than h2spec expects, and why. A bare server of `node:http2` does each of them. */
const DEVIATIONS: Record<string, string> = {
  'http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame': CLOSED,
  'http2/5.1 closed: Sends a HEADERS frame after sending RST_STREAM frame': CLOSED,
  'http2/5.1 closed: Sends a DATA frame': CLOSED,
  'http2/5.1 closed: Sends a HEADERS frame': CLOSED,
  'http2/5.1.1 Sends stream identifier that is numerically smaller than previous': CLOSED,
  'http2/5.3.1 Sends PRIORITY frame that depend on itself': PRIORITY,
  'http2/6.3 Sends a PRIORITY frame with 0x0 stream identifier': PRIORITY,
  'http2/6.7 Sends a PING frame with ACK': 'Node ends a connection that acknowledges what was never sent',
  'http2/6.9.1 Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream':
    'Node ends the connection instead of the stream',
};

const SOURCE = fileURLToPath(new URL('h2spec', import.meta.url));

const served = servePinned();
let folder: string;
let pinned: Pinned;
let forwarder: TcpServer;
let h2spec: string;

beforeAll(async () => {
  ({ folder, pinned } = served);
  h2spec = join(folder, 'h2spec');
  execFileSync('go', ['build', '-trimpath', '-o', h2spec, 'github.com/summerwind/h2spec/cmd/h2spec'], {
    cwd: SOURCE,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // h2spec knows no proxy: it connects here. Its requests name this port, so this is the one that is pinned.
  forwarder = createServer({ noDelay: true, allowHalfOpen: true }, async (client) => {
    client.on('error', () => {}).pause();
    // A look at the origin by its port, which would come here again.
    if (pinned.ready.length === 0) return void client.destroy();
    const tunnel = await pinned.tunnel(port());
    tunnel.on('error', () => client.destroy()).once('close', () => client.destroy());
    client.once('close', () => tunnel.destroy());
    client.pipe(tunnel).pipe(client);
  });
  await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve));
  pinned.connectTo = `localhost:${port()}:127.0.0.1:${served.server.port}`;
  await pinned.pin(port(), 'h2');
});

afterAll(() => {
  forwarder.close();
});

function port(): number {
  return (forwarder.address() as AddressInfo).port;
}

it('is as RFC 9113 and RFC 7541 have it', async () => {
  const report = join(folder, 'report.xml');
  await new Promise((resolve) => {
    const args = ['--tls', '--insecure', '--host', 'localhost', '--port', String(port()), '--timeout', '1'];
    // The delay keeps streams open while h2spec does what is not allowed on them.
    args.push('--path', '/bytes/5000?delay=20', '--junit-report', report, 'generic', 'http2', 'hpack');
    execFile(h2spec, args, resolve);
  });
  const cases = [
    ...readFileSync(report, 'utf8').matchAll(
      /<testcase package="([^"]+)" classname="([^"]+)"[^>]*>\s*(<error>([^<]*))?/g,
    ),
  ].map(([, section, title, fault, expected]) => ({ name: `${section} ${title}`, fault, expected }));
  expect(new Set(cases.map(({ name }) => name.split('/')[0]))).toEqual(
    new Set(['generic', 'http2', 'hpack']),
  );
  const failed = cases.filter(({ name, fault }) => fault !== undefined && !(name in DEVIATIONS));
  expect(failed).toEqual([]);
  expect(pinned.lifted).toEqual([]);
});
