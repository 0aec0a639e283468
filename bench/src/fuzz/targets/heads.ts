import { mkdtempSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAuthority } from '../../../../native-host/src/pins/proxy/authority.ts';
import { LoopbackProxy } from '../../../../native-host/src/pins/proxy/loopback-proxy.ts';
import { connectHead, hear } from '../../../../native-host/test/pins/proxy/support/peers.ts';
import { Pinned } from '../../../../native-host/test/pins/terminating/support/pinned.ts';
import { type FuzzTarget, hold } from '../target.ts';

const WORDS = ['CONNECT ', ' HTTP/1.1\r\n', '\r\n\r\n', 'Host: ', '[::1]:443', '%00', ':0443', '\t'];

/** Sends the input and waits for the end of the connection. */
async function exchangeBytes(socket: Socket, input: Uint8Array): Promise<Buffer> {
  const heard = hear(socket);
  // The end only once all has been read: what is sent after an end is lost.
  socket.end(input);
  return (await heard).bytes;
}

/** Nothing is tunnelled: routes refuse. */
export const connectHeads: FuzzTarget = {
  title: 'heads of requests to the proxy',
  input: 'bytes',
  dictionary: WORDS,
  seeds: () =>
    [
      connectHead('shop.test:443'),
      connectHead('[2001:db8::1]:443', 'Proxy-Connection: keep-alive'),
      'GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\n\r\n',
    ].map((head) => Buffer.from(head)),
  async open() {
    const routed: string[] = [];
    const proxy = new LoopbackProxy({
      route: (host, port) => {
        routed.push(`${host}:${port}`);
        return { kind: 'refuse' };
      },
      log: () => {},
    });
    const port = await proxy.listen();
    return {
      async run(input) {
        routed.length = 0;
        const answer = await exchangeBytes(connect(port, '127.0.0.1'), input);
        hold(answer.length === 0, 'there is no answer');
        for (const target of routed) hold(parseAuthority(target) !== null, 'targets are in their one form');
        hold(routed.length === 0 || Buffer.from(input).includes('CONNECT'), 'only a CONNECT is routed');
      },
      close: () => proxy.close(),
    };
  },
};

/** Requests of browsers over HTTP/1.1 to the terminating proxy, each over a TLS connection of its own, before a sound origin. */
export const http1Heads: FuzzTarget = {
  title: 'requests over HTTP/1.1 to the terminating proxy',
  input: 'bytes',
  dictionary: [
    'GET ',
    'POST ',
    ' HTTP/1.1\r\n',
    '\r\n\r\n',
    'Host: localhost',
    'Transfer-Encoding: chunked',
    'Content-Length: ',
    'Upgrade: ',
    'Expect: 100-continue',
    '0\r\n\r\n',
  ],
  seeds: () =>
    [
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      'POST /a?b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody',
      'PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nbody\r\n0\r\nA: b\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ].map((head) => Buffer.from(head)),
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'hopwise-fuzz-'));
    const pinned = await Pinned.start(folder, []);
    const origin = await pinned.origin((request, response) => {
      request.resume().on('error', () => {});
      response.setHeader('connection', 'close');
      response.end('right');
    });
    await pinned.pin(origin.port, 'h1');
    return {
      async run(input) {
        const socket = await pinned.connect(origin.port, 'http/1.1');
        const answer = (await exchangeBytes(socket, input)).toString('latin1');
        hold(answer === '' || answer.startsWith('HTTP/1.1 '), 'an answer is one of HTTP/1.1');
        hold(pinned.lifted.length === 0, 'a request lifts no pin');
      },
      async close() {
        origin.server.closeAllConnections();
        origin.server.close();
        await pinned.stop(folder);
      },
    };
  },
};
