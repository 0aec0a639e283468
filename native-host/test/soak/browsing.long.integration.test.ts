/** A day's browsing through pins of every kind: a host and its engine keep the memory and descriptors that they have early on. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PIN_KINDS, type PinKind } from '@hopwise/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FaultHost } from '../faults/fault-host.ts';
import { ModelBrowser } from '../faults/model-browser.ts';
import { until } from '../pins/proxy/support/peers.ts';
import { privateLibcurl } from '../support/private-libcurl.ts';
import { bundle, type Server, ServerProgram } from '../support/server.ts';
import { descriptorsOf, leastPss } from './memory-of-processes.ts';

const REQUESTS = 20_000;
/** Before them, until pools, caches and compiled code have their size. */
const WARM_UP_REQUESTS = 12_000;
const CHECKS = 4;
/** Requests under way at once to each origin. */
const AT_ONCE = 8;
/** Requests after which a browser closes its connections and another one comes. */
const BROWSER_REQUESTS = 250;
const GROWTH = 0.1;
/** The engine keeps idle connections for 118 s, as libcurl does. */
const IDLE_LIMIT_MS = 150_000;
const MIB = 1024 * 1024;

const program = new ServerProgram();
const origins = new Map<PinKind, Server>();
let folder: string;
let host: FaultHost;
let asked = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-browsing-'));
  for (const kind of PIN_KINDS) origins.set(kind, await program.start());
  const caFile = join(folder, 'bundle.pem');
  writeFileSync(caFile, bundle([...origins.values()]));
  host = await FaultHost.start({
    hosts: ['localhost'],
    caFile,
    libcurl: await privateLibcurl(),
    hasSmallDisk: false,
  });
  for (const [kind, server] of origins) await host.pin(server.url(''), kind, false);
});

afterAll(async () => {
  const left = await host.end();
  await Promise.all([...origins.values()].map((server) => server.stop()));
  program.remove();
  rmSync(folder, { recursive: true });
  expect(left).toEqual([]);
});

/** Requests of one browser after another to the origin of a pin. */
async function browse(kind: PinKind, requests: number): Promise<void> {
  const server = origins.get(kind)!;
  const roots = [server.root, host.root];
  for (let done = 0, turn = 0; done < requests; done += BROWSER_REQUESTS, turn += 1) {
    const proxy = { port: host.state!.port };
    const alpn = turn % 2 === 0 ? ['h2', 'http/1.1'] : ['http/1.1'];
    const browser = new ModelBrowser({ port: server.port, proxy, alpn, roots, clockOffsetMs: () => 0 });
    let left = Math.min(BROWSER_REQUESTS, requests - done);
    const askOneByOne = async (): Promise<void> => {
      while (left-- > 0) await askOnce(browser, kind);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askOneByOne));
    browser.close();
    await server.seen();
  }
}

/** Mostly small responses, some larger ones, and every tenth request sends a body. */
async function askOnce(browser: ModelBrowser, kind: PinKind): Promise<void> {
  const number = asked++;
  const bytes = number % 50 === 0 ? 500_000 : 1_000 + (number % 40) * 500;
  const isUpload = number % 10 === 0;
  const options = isUpload ? { method: 'POST', body: Buffer.alloc(bytes) } : { method: 'GET' };
  const path = isUpload ? '/digest' : `/bytes/${bytes}`;
  const signal = AbortSignal.timeout(60_000);
  const { answer, failure, attempts } = await browser.ask(options, () => path, signal);
  if (!answer) throw new Error(`${kind} ${path}: ${failure?.message}`);
  expect(answer.status).toBe(200);
  if (isUpload) expect(JSON.parse(answer.body.toString())).toMatchObject({ bytes });
  else expect(answer.body).toHaveLength(bytes);
  expect(attempts.at(-1)!.terminated).toBe(kind !== 'avoid-h3');
}

/** @returns the memory of host and engine afterwards */
async function browseAll(requests: number): Promise<number[]> {
  await Promise.all([...origins.keys()].map((kind) => browse(kind, requests / origins.size)));
  const pss = await leastPss(host.processes);
  const [ofHost, ofEngine] = pss.map((bytes) => `${(bytes / MIB).toFixed(1)} MiB`);
  process.stdout.write(`${asked} requests: host ${ofHost}, engine ${ofEngine}\n`);
  return pss;
}

it(`${REQUESTS} requests leave memory within ${GROWTH * 100}%, and no descriptors`, async () => {
  const descriptors = descriptorsOf(host.processes);
  const early = await browseAll(WARM_UP_REQUESTS);
  let late = early;
  for (let check = 0; check < CHECKS; check += 1) {
    late = await browseAll(REQUESTS / CHECKS);
  }
  expect(asked).toBe(WARM_UP_REQUESTS + REQUESTS);
  for (const [index, bytes] of late.entries()) expect(bytes).toBeLessThan(early[index]! * (1 + GROWTH));
  for (const server of origins.values()) {
    expect(host.pinOf(server.url(''))?.state).toBe('active');
    await host.unpin(server.url(''));
  }
  await until(
    () => descriptorsOf(host.processes).every((count, index) => count <= descriptors[index]!),
    IDLE_LIMIT_MS,
  );
  const counts = (of: readonly number[]): string => `host ${of[0]}, engine ${of[1]}`;
  process.stdout.write(
    `descriptors before: ${counts(descriptors)}; after: ${counts(descriptorsOf(host.processes))}\n`,
  );
}, 1_200_000);
