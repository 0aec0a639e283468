/** Nothing is terminated before the browser has shown that it trusts the local CA; a browser that does not still gets its page. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DISTRUST } from '../../../src/pins/terminating/browser-trust.ts';
import { serveProgram } from '../../support/serve-program.ts';
import { Origin, until } from '../proxy/support/peers.ts';
import { ask1, isTerminated, Pinned } from './support/pinned.ts';

/** RFC 5246, sections 6.2.1 and 7.2: alerts in the clear. */
const FATAL_UNKNOWN_CA = Buffer.from([21, 3, 3, 0, 2, 2, 48]);
const FATAL_USER_CANCELED = Buffer.from([21, 3, 3, 0, 2, 2, 90]);

let folder: string;
const served = serveProgram();
let pinned: Pinned;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-trust-'));
  pinned = await Pinned.start(folder, [served.server.caFile]);
  pinned.terminating.pin('localhost', served.server.port, 'h2', 'loopback');
});

afterEach(() => pinned.stop(folder));

const waitsFor = () => pinned.terminating.findWait('localhost', served.server.port);
const route = (): string => pinned.terminating.routeConnect('localhost', served.server.port).kind;

/** The first message of a TLS 1.2 client, whose handshake is not encrypted. */
async function clientHello(): Promise<Buffer> {
  const [browser, wire] = duplexPair();
  connect({ socket: browser, servername: 'localhost', maxVersion: 'TLSv1.2' }).on('error', () => {});
  const [hello] = (await once(wire, 'data')) as [Buffer];
  return hello;
}

async function receiveCertificate(tunnel: Socket): Promise<void> {
  tunnel.write(await clientHello());
  await once(tunnel, 'data');
}

async function sendAlert(tunnel: Socket, alert: Buffer): Promise<void> {
  await receiveCertificate(tunnel);
  tunnel.end(alert);
  await once(tunnel, 'close');
}

const rejectCertificate = (tunnel: Socket) => sendAlert(tunnel, FATAL_UNKNOWN_CA);

async function handshake(tunnel: Socket): Promise<TLSSocket> {
  const socket = connect({ socket: tunnel, servername: 'localhost', ca: pinned.roots });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

it('waits for a browser that shows trust', async () => {
  expect(waitsFor()).toBe('trust');
  expect(route()).toBe('tunnel');
  expect(await pinned.tryTrust(pinned.roots)).toBe(true);
  await until(() => pinned.ready.includes(served.server.port));
  expect(waitsFor()).toBeNull();
  expect(isTerminated(await pinned.connect(served.server.port, 'h2'))).toBe(true);
});

it('tells what it waits for then, where the origin does not answer', async () => {
  const silent = await Origin.listen(() => {});
  pinned.terminating.pin('localhost', silent.port, 'h2', 'loopback');
  const { doubts } = pinned;
  expect(await pinned.tryTrust(pinned.roots)).toBe(true);
  expect(pinned.doubts).toBe(doubts + 1);
  expect(pinned.terminating.findWait('localhost', silent.port)).toBe('answer');
  await silent.close();
});

it('lifts the pins of a host in whose trial the browser rejects the certificate', async () => {
  await rejectCertificate(await pinned.trialTunnel());
  await until(() => pinned.lifted.length > 0);
  expect(pinned.lifted).toEqual([{ port: served.server.port, reason: DISTRUST }]);
  expect(route()).toBe('tunnel');
});

it.each<[string, (tunnel: Socket) => Promise<unknown>]>([
  ['before the first byte', async () => {}],
  ['in the ClientHello', async (tunnel) => tunnel.write((await clientHello()).subarray(0, 50))],
  ['after the ClientHello', async (tunnel) => tunnel.write(await clientHello())],
  ['after the server’s certificate', (tunnel) => receiveCertificate(tunnel)],
  ['after the handshake', (tunnel) => handshake(tunnel)],
  ['in the request', async (tunnel) => (await handshake(tunnel)).write('GET /')],
  ['with something other than TLS', async (tunnel) => tunnel.write('GET / HTTP/1.1\r\n\r\n')],
  ['with an alert that is not about the certificate', (tunnel) => sendAlert(tunnel, FATAL_USER_CANCELED)],
])('goes on waiting after a trial that was aborted %s', async (_stage, reach) => {
  const tunnel = await pinned.trialTunnel();
  await reach(tunnel);
  tunnel.resetAndDestroy();
  await until(() => pinned.proxy.open === 0);
  expect(pinned.lifted).toEqual([]);
  expect(waitsFor()).toBe('trust');
  expect(await pinned.tryTrust(pinned.roots)).toBe(true);
});

it('takes no request of a page for a trial', async () => {
  for (const path of ['', pinned.terminating.trialToken.toLowerCase(), `${pinned.terminating.trialToken}/`]) {
    const socket = await handshake(await pinned.trialTunnel());
    expect((await ask1(socket, { path: `/${path}` })).status).toBe(404);
  }
  expect(waitsFor()).toBe('trust');
  expect(pinned.lifted).toEqual([]);
});

it('lifts a pin when a browser that had shown trust refuses our certificate', async () => {
  await pinned.tryTrust(pinned.roots);
  await until(() => pinned.ready.includes(served.server.port));
  await rejectCertificate(await pinned.tunnel(served.server.port));
  await until(() => pinned.lifted.length > 0);
  expect(pinned.lifted).toEqual([{ port: served.server.port, reason: DISTRUST }]);
  expect(isTerminated(await pinned.connect(served.server.port, 'http/1.1'))).toBe(false);
});

it('is tried only while a pin of the host waits for it', async () => {
  expect(pinned.terminating.routeTrial('elsewhere.example').kind).toBe('refuse');
  expect(pinned.terminating.routeTrial('localhost').kind).toBe('terminate');
  await pinned.tryTrust(pinned.roots);
  expect(pinned.terminating.routeTrial('localhost').kind).toBe('refuse');
});

it('certifies no other name in a trial', async () => {
  const tunnel = await pinned.trialTunnel();
  const socket = connect({ socket: tunnel, servername: 'elsewhere.example', ca: pinned.roots });
  await new Promise<void>((resolve) => socket.once('error', () => resolve()));
  expect(socket.getPeerCertificate()).toBeNull();
  expect(waitsFor()).toBe('trust');
});
