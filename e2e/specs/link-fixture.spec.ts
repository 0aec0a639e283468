/** A server of one's own behind the emulated link, as a test engineer uses it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { linkTest as base, expect } from '../src/playwright/index.ts';

/** Which server is behind the link. */
type Scheme = 'http' | 'https';

interface OwnServer {
  url: string;
  /** Hosts that requests named. */
  hosts: Set<string>;
}

/** A certificate of the server's own making, as development servers have. */
function makeCertificate(): { key: string; cert: string } {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-'];
  const both = execFileSync('openssl', ['req', '-x509', ...key, '-subj', '/CN=localhost', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { key: both, cert: both };
}

/** Accepts a WebSocket (RFC 6455) and sends one message: the origin that its request named. */
function openSocket(request: IncomingMessage, socket: Duplex): void {
  const accepted = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  const upgrade = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write([...upgrade, `Sec-WebSocket-Accept: ${accepted}`, '', ''].join('\r\n'));
  const message = Buffer.from(request.headers.origin ?? '');
  socket.write(Buffer.concat([Buffer.from([0x81, message.length]), message]));
  socket.on('error', () => socket.destroy());
}

/** A server as in development: it refuses other hosts, redirects to itself by its own address, sets a cookie, opens WebSockets. */
async function startOwnServer(scheme: Scheme): Promise<{ own: OwnServer; close: () => void }> {
  const hosts = new Set<string>();
  const answer: RequestListener = (request, response) => {
    const { port } = server.address() as AddressInfo;
    hosts.add(request.headers.host ?? '');
    if (request.headers.host !== `localhost:${port}`) response.writeHead(403).end('another host');
    else if (request.url === '/old') {
      response.writeHead(302, { location: `${scheme}://localhost:${port}/`, 'set-cookie': 'seen=1' }).end();
    } else if (request.url === '/slow.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(`/*${'x'.repeat(200_000)}*/`);
    } else {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<title>Mine</title><p>${request.headers.cookie ?? ''}</p><script src="/slow.js"></script>`);
    }
  };
  const sockets = new Set<Duplex>();
  const server = scheme === 'http' ? createServer(answer) : createSecureServer(makeCertificate(), answer);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    sockets.add(socket);
    openSocket(request, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const url = `${scheme}://localhost:${(server.address() as AddressInfo).port}`;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { own: { url, hosts }, close };
}

const test = base.extend<object, { servers: Record<Scheme, OwnServer> }>({
  servers: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const [http, https] = [await startOwnServer('http'), await startOwnServer('https')];
      await use({ http: http.own, https: https.own });
      for (const { close } of [http, https]) close();
    },
    { scope: 'worker' },
  ],
});

/** 200,000 bytes at 2 Mbit/s take 0.8 s. */
const NETWORK = { profile: 'cable', downMbps: 2, rttMs: 100 };

/** The protocol to the browser does not depend on the server's scheme. */
const CASES = [
  ['http', 'h1'],
  ['http', 'h2'],
  ['https', 'h2'],
  ['http', 'h3'],
] as const;

for (const [scheme, protocol] of CASES) {
  const linked = test.extend({
    link: async ({ servers }, use) => use({ server: servers[scheme].url, network: NETWORK, protocol }),
  });

  linked(
    `a server on ${scheme} is loaded over ${protocol}, at the pace of the link, with its WebSockets`,
    async ({ page, linkLab, linkUrl, servers }) => {
      const server = servers[scheme];
      await linkLab.log();
      await page.goto('/old');
      expect(page.url()).toBe(linkUrl);
      await expect(page).toHaveTitle('Mine');
      await expect(page.locator('p')).toHaveText('seen=1');
      const timing = await page.evaluate(() => {
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        const script = performance.getEntriesByName(
          `${location.origin}/slow.js`,
        )[0] as PerformanceResourceTiming;
        return { protocol: navigation!.nextHopProtocol, ms: script.responseEnd - script.startTime };
      });
      expect(timing.protocol).toBe({ h1: 'http/1.1', h2: 'h2', h3: 'h3' }[protocol]);
      expect(timing.ms).toBeGreaterThan(800);
      const origin = await page.evaluate(
        () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket(`wss://${location.host}/live`);
            socket.onmessage = ({ data }) => resolve(data);
            socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
          }),
      );
      expect(origin).toBe(server.url);
      // WebSockets begin on HTTP/1.1 (RFC 6455, section 4.1).
      const entries = (await linkLab.log()).entries.filter(({ path }) => path !== '/live');
      expect(entries.map(({ path, status }) => `${status} ${path}`)).toEqual(
        expect.arrayContaining(['302 /old', '200 /', '200 /slow.js']),
      );
      expect(new Set(entries.map((entry) => entry.protocol))).toEqual(new Set([protocol]));
      expect([...server.hosts]).toEqual([new URL(server.url).host]);
    },
  );
}
