/** Nothing is terminated before the browser has shown that it trusts the local CA; a browser that does not gets its page all the same. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { DISTRUST } from '../../src/pins/terminating/browser-trust.ts';
import { until } from '../proxy/support/peers.ts';
import { type Server, ServerProgram } from '../support/server.ts';
import { isTerminated, newAuthority, Pinned } from './support/pinned.ts';

/** RFC 5246, sections 6.2.1 and 7.2: an alert in the clear. */
const FATAL_UNKNOWN_CA = Buffer.from([21, 3, 3, 0, 2, 2, 48]);

let folder: string;
let program: ServerProgram;
let server: Server;
let pinned: Pinned;

beforeAll(async () => {
  program = new ServerProgram();
  server = await program.start();
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-trust-'));
  pinned = await Pinned.start(folder, [server.caFile]);
  pinned.terminating.pin('localhost', server.port, 'h2');
});

afterEach(() => pinned.stop(folder));

afterAll(async () => {
  await server.stop();
  program.remove();
});

const waitsFor = (): string => pinned.terminating.waitsFor('localhost', server.port);
const route = (): string => pinned.terminating.route('localhost', server.port).kind;

it('waits for a browser that shows trust', async () => {
  expect(waitsFor()).toMatch(/^until this browser has shown/);
  expect(route()).toBe('tunnel');
  expect(await pinned.tryTrust(pinned.roots)).toBe(true);
  await until(() => pinned.ready.includes(server.port));
  expect(waitsFor()).toBe('');
  expect(isTerminated(await pinned.connect(server.port, 'h2'))).toBe(true);
});

it('lifts the pins of a host whose trial the browser refuses', async () => {
  const other = await newAuthority(join(folder, 'other'));
  expect(await pinned.tryTrust([other.root])).toBe(false);
  await until(() => pinned.lifted.length > 0);
  expect(pinned.lifted).toEqual([{ port: server.port, reason: DISTRUST }]);
  expect(route()).toBe('tunnel');
});

it('lifts a pin when a browser that had shown trust refuses our certificate', async () => {
  await pinned.tryTrust(pinned.roots);
  await until(() => pinned.ready.includes(server.port));
  const tunnel = await pinned.tunnel(server.port);
  const [browser, wire] = duplexPair();
  connect({ socket: browser, servername: 'localhost', maxVersion: 'TLSv1.2' }).on('error', () => {});
  wire.once('data', (hello) => tunnel.write(hello));
  tunnel.once('data', () => tunnel.end(FATAL_UNKNOWN_CA));
  await until(() => pinned.lifted.length > 0);
  expect(pinned.lifted).toEqual([{ port: server.port, reason: DISTRUST }]);
  expect(isTerminated(await pinned.connect(server.port, 'http/1.1'))).toBe(false);
});

it('is tried only while a pin of the host waits for it', async () => {
  expect(pinned.terminating.trial('elsewhere.example').kind).toBe('refuse');
  expect(pinned.terminating.trial('localhost').kind).toBe('terminate');
  await pinned.tryTrust(pinned.roots);
  expect(pinned.terminating.trial('localhost').kind).toBe('refuse');
});

it('vouches in a trial for no other name', async () => {
  const tunnel = await pinned.trialTunnel();
  const socket = connect({ socket: tunnel, servername: 'elsewhere.example', ca: pinned.roots });
  await new Promise<void>((resolve) => socket.once('error', () => resolve()));
  expect(socket.getPeerCertificate()).toBeNull();
  await until(() => pinned.lifted.length > 0);
});
