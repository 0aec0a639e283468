/** A helper that hangs: real Chromium loads pinned pages without it, and the user sees the reason. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PinKind } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { privateLibcurl } from '../../../native-host/test/support/private-libcurl.ts';
import { isStopped, stopProcess } from '../../../native-host/test/support/server.ts';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { ExtensionBrowser } from '../support/browser.ts';
import { TestHost } from './host.ts';
import { ca, type PinnedServer, PinRequests, serveHost } from './pin-requests.ts';
import { HOST } from './pinned-host.ts';
import { launchToPin } from './pinning-chromium.ts';

/** From the hang until the page has loaded: 3 to 6 s, also at a load of 40. What hangs without hopwise noticing hangs for longer. */
const LIMIT_MS = 20_000;
const KINDS: readonly PinKind[] = ['avoid-h3', 'h1', 'h2', 'h3'];
/** Pins whose transfers an engine makes. */
const PROTOCOLS = ['h1', 'h2', 'h3'] as const;
const drawKinds = (situation: string) => drawShare(KINDS, 1, (kind) => `${situation} ${kind}`);
/** As many as HTTP/1.1 has connections: none is answered before all are sent. */
const REQUESTS = 6;
const BYTES = 100_000;
const ALL_LOADED = Array.from({ length: REQUESTS }, () => String(BYTES));
const HELPER_HUNG = 'The helper stopped responding; pages load without it.';

let served: PinnedServer;
let host: TestHost;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;
let page: Page;
let pins: PinRequests;
/** Numbers the tests whose requests the server holds. */
let serial = 0;
/** Processes that a test has stopped: an engine outlives a host that is killed before it has ended it. */
const stopped: number[] = [];

beforeAll(async () => {
  served = await serveHost();
  host = new TestHost();
  Object.assign(host.env, {
    HOME: host.folder,
    XDG_DATA_HOME: join(host.folder, 'data'),
    HOPWISE_CA_FILE: served.server.caFile,
    HOPWISE_LIBCURL: await privateLibcurl(),
  });
  const store = join(host.folder, '.pki', 'nssdb');
  mkdirSync(store, { recursive: true });
  execFileSync('certutil', ['-N', '-d', `sql:${store}`, '--empty-password']);
  ca(host.folder, 'create', served.origin);
  ca(host.folder, 'trust');
  ({ browser, own, page } = await launchToPin(served.server.port, host));
  await host.registerWithNames(browser.profile, [HOST]);
  pins = new PinRequests((request) => browser.ask(own, request), served.origin);
});

afterEach(async () => {
  await page.goto('about:blank');
  // On a busy machine the worker may answer late.
  const all = await vi.waitFor(() => pins.all(), 60_000);
  for (const { origin } of all) await pins.unpin(origin);
  for (const pid of host.running()) process.kill(pid, 'SIGKILL');
  await expect.poll(() => host.running()).toEqual([]);
  for (const pid of stopped.splice(0))
    if (existsSync(`/proc/${pid}`) && isStopped(pid)) process.kill(pid, 'SIGKILL');
});

afterAll(async () => {
  await browser?.close();
  host?.remove();
  await served?.stop();
});

async function pinAs(kind: PinKind): Promise<void> {
  // The extension may not have noticed yet that the previous host has ended.
  await expect.poll(() => pins.pin(kind)).toMatchObject({ ok: true, pins: [{ kind }] });
  await expect.poll(isGuarded).toBe(true);
  await expect.poll(() => pins.all()).toMatchObject([{ kind, state: 'active', reason: '' }]);
}

/** Whether the helper's engine runs, which the helper logs. */
function isGuarded(): boolean {
  const log = readFileSync(join(host.env.XDG_STATE_HOME, 'hopwise', 'host.log'), 'utf8');
  return host.running().some((pid) => log.includes(` ${pid} engine libcurl/`));
}

function stop(pids: readonly number[]): void {
  expect(pids).toHaveLength(1);
  stopped.push(...pids);
  for (const pid of pids) stopProcess(pid);
}

/** Time that a step takes, milliseconds. */
async function timeOf(step: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await step();
  return performance.now() - begin;
}

const open = (path: string) => page.goto(served.server.url(path, HOST), { timeout: 4 * LIMIT_MS });

/**
 * Loads the page, has it send requests, and makes something happen before they are answered: what a stopped helper holds of an answer that
 * has begun cannot be fetched again.
 *
 * @returns bytes or error of each
 */
async function loadDuring(happen: () => void): Promise<string[]> {
  await open('/status/200');
  await page.evaluate(() => fetch('/bytes/10', { cache: 'no-store' }).then((response) => response.text()));
  // An earlier test's requests may have been sent twice.
  const query = `?held&${++serial}`;
  await served.server.hold();
  const loading = page.evaluate(
    ({ count, bytes, query }) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          fetch(`/bytes/${bytes}/${index}${query}`, { cache: 'no-store' })
            .then((response) => response.arrayBuffer())
            .then(({ byteLength }) => String(byteLength))
            .catch(String),
        ),
      ),
    { count: REQUESTS, bytes: BYTES, query },
  );
  expect(await served.server.seen(REQUESTS, (path) => path.endsWith(query))).toHaveLength(REQUESTS);
  happen();
  await served.server.release();
  return loading;
}

test.each(drawKinds('busy'))(
  '%s: requests in progress and the next page load when the helper hangs',
  async (kind) => {
    await pinAs(kind);
    let begin = 0;
    const loaded = await loadDuring(() => {
      begin = performance.now();
      stop(host.running());
    });
    expect(loaded).toEqual(ALL_LOADED);
    await open('/status/200?next');
    const ms = performance.now() - begin;
    expect(ms).toBeLessThan(LIMIT_MS);
    await expect.poll(() => pins.all()).toMatchObject([{ kind, state: 'lifted', reason: HELPER_HUNG }]);
    await pinAs(kind);
  },
);

test.each(drawKinds('idle'))(
  '%s: a page without open connections loads when the helper hangs',
  async (kind) => {
    await pinAs(kind);
    stop(host.running());
    const ms = await timeOf(() => open('/status/200'));
    expect(ms).toBeLessThan(LIMIT_MS);
    await expect.poll(() => pins.all()).toMatchObject([{ kind, state: 'lifted', reason: HELPER_HUNG }]);
  },
);

test.each(['avoid-h3' as const, ...drawShare(PROTOCOLS, 1)])(
  '%s: requests in progress and the next page load when the engine hangs',
  async (kind) => {
    await pinAs(kind);
    let begin = 0;
    const loaded = await loadDuring(() => {
      begin = performance.now();
      stop(host.engines());
    });
    expect(loaded).toEqual(ALL_LOADED);
    await open('/status/200?next');
    const ms = performance.now() - begin;
    expect(ms).toBeLessThan(LIMIT_MS);
    const state =
      kind === 'avoid-h3'
        ? { kind, state: 'active' }
        : { kind, state: 'lifted', reason: expect.stringContaining('engine stopped responding') };
    // The page may have loaded before the extension hears of it.
    await expect.poll(() => pins.all()).toMatchObject([state]);
  },
);

test.each(drawKinds('no worker'))(
  '%s: a page loads when the helper hangs while the worker is stopped',
  async (kind) => {
    await pinAs(kind);
    await open('/status/200');
    stop(host.running());
    const ms = await timeOf(async () => {
      await browser.stopWorker(own);
      await open('/status/200?next');
    });
    expect(ms).toBeLessThan(LIMIT_MS);
  },
);

test.each(drawShare(['avoid-h3', 'h2'] as const, 1))(
  '%s: a page loads when helper and engine hang at the same time',
  async (kind) => {
    await pinAs(kind);
    await open('/status/200');
    stop(host.engines());
    stop(host.running());
    const ms = await timeOf(() => open('/status/200?next'));
    expect(ms).toBeLessThan(LIMIT_MS);
    await expect.poll(() => pins.all()).toMatchObject([{ kind, state: 'lifted', reason: HELPER_HUNG }]);
  },
);
