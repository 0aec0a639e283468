/**
 * A page of an origin that is pinned to the protocol of the first argument, on a machine that changes to another network while the page
 * is open. To be run in a network namespace of its own. Prints a `NetworkChange`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Protocol } from '@hopwise/contract';
import { ServerProgram } from '../../../support/server.ts';
import { ask2, type Lifted, Pinned } from './pinned.ts';

export interface NetworkChange {
  statuses: number[];
  /** From the change until both answers are there, milliseconds. */
  tookMs: number;
  /** What the server saw of the second answer's request. */
  client: string;
  proto: string;
  lifted: Lifted[];
}

const ORIGIN = '10.77.0.1';
const FORMER = '10.77.0.2';
const LATTER = '10.77.0.3';

function ip(...words: string[]): void {
  execFileSync('ip', words);
}

/** Gives the machine an address, from which it connects to the origin from now on. */
function take(address: string): void {
  ip('address', 'add', `${address}/32`, 'dev', 'lo');
  ip('route', 'replace', 'local', ORIGIN, 'dev', 'lo', 'table', 'local', 'src', address);
}

/** The former address is gone; what the origin sends there gets lost. */
function changeNetwork(): void {
  ip('address', 'delete', `${FORMER}/32`, 'dev', 'lo');
  ip('route', 'add', 'blackhole', `${FORMER}/32`);
  take(LATTER);
}

ip('link', 'set', 'lo', 'up');
ip('address', 'add', `${ORIGIN}/32`, 'dev', 'lo');
take(FORMER);
const program = new ServerProgram();
const server = await program.start('-address', ORIGIN);
const folder = mkdtempSync(join(tmpdir(), 'hopwise-network-'));
const pinned = await Pinned.start(folder, [server.caFile]);
pinned.connectTo = `localhost:${server.port}:${ORIGIN}:${server.port}`;
await pinned.pin(server.port, process.argv[2] as Protocol);
const session = await pinned.http2(server.port);
await ask2(session, { ':path': '/bytes/10' });
await server.seen(2);

changeNetwork();
const begin = performance.now();
const answers = await Promise.all([10, 20].map((bytes) => ask2(session, { ':path': `/bytes/${bytes}` })));
const tookMs = performance.now() - begin;
const { client, proto } = (await server.seen(2)).at(-1)!;
const statuses = answers.map(({ status }) => status);
const change: NetworkChange = { statuses, tookMs, client, proto, lifted: pinned.lifted };
console.log(JSON.stringify(change));

session.destroy();
await pinned.stop(folder);
await server.stop();
program.remove();
