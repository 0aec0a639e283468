/** Pins to a protocol in real Chromium, with the real host and its local CA, on a server that supports all three. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Protocol } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { FaultyLink } from '../../../native-host/test/faults/faulty-link.ts';
import { privateLibcurl } from '../../../native-host/test/support/private-libcurl.ts';
import { PROTO, type Server } from '../../../native-host/test/support/server.ts';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { ExtensionBrowser } from '../support/browser.ts';
import { TestHost } from './host.ts';
import { ca, listClients, type PinnedServer, PinRequests, serveHost } from './pin-requests.ts';
import { HOST } from './pinned-host.ts';
import { launchToPin, type PinningChromium } from './pinning-chromium.ts';

const BYTES = 40_000;
const ASKED_AT_ONCE = 12;
const DOWNLOAD_BYTES = 4_000_000;

/** Issuer of the certificate that the browser receives. */
const OURS = expect.stringMatching(/^hopwise local CA/);
const THEIRS = expect.stringMatching(/test CA/);

let served: PinnedServer;
let server: Server;
let origin: string;
let host: TestHost;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;
let page: Page;
let pins: PinRequests;
/** SHA-256 of the response body that the server sends. */
let digest: string;

beforeAll(async () => {
  served = await serveHost();
  ({ server, origin } = served);
  host = new TestHost();
  Object.assign(host.env, {
    HOME: host.folder,
    XDG_DATA_HOME: join(host.folder, 'data'),
    HOPWISE_CA_FILE: server.caFile,
    HOPWISE_LIBCURL: await privateLibcurl(),
  });
  const store = join(host.folder, '.pki', 'nssdb');
  mkdirSync(store, { recursive: true });
  execFileSync('certutil', ['-N', '-d', `sql:${store}`, '--empty-password']);
  // Without trust in the origin's certificate Chromium would ignore that it wants https alone.
  const trust = ['-n', 'origin', '-t', 'C,,', '-i', server.caFile];
  execFileSync('certutil', ['-A', '-d', `sql:${store}`, ...trust]);
  ca(host.folder, 'create', origin);
  ca(host.folder, 'trust');
  ({ browser, own, page } = await start());
  pins = new PinRequests((request) => browser.ask(own, request), origin);
  await page.goto(server.url('/status/200', HOST));
  digest = (await asked()).digest;
});

afterAll(async () => {
  await browser?.close();
  host?.remove();
  await served?.stop();
});

async function start(env: Record<string, string> = {}): Promise<PinningChromium> {
  const started = await launchToPin(server.port, host, env);
  await host.registerWithNames(started.browser.profile, [HOST]);
  return started;
}

let serial = 0;

interface Asked {
  /** Protocol and certificate issuer as the browser reports them. */
  browser: string;
  issuer: string;
  /** Protocol as the server received it. */
  server: string;
  digest: string;
}

/** Sends a request from the open page. */
async function asked(): Promise<Asked> {
  const path = `/bytes/${BYTES}/${++serial}`;
  const [response, answer] = await Promise.all([
    page.waitForResponse((one) => one.url().endsWith(path)),
    page.evaluate(async (url) => {
      const body = await (await fetch(url, { cache: 'no-store' })).arrayBuffer();
      const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
      const entry = performance.getEntriesByName(new URL(url, location.href).href).at(-1);
      performance.clearResourceTimings();
      return {
        browser: (entry as PerformanceResourceTiming).nextHopProtocol,
        digest: [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
      };
    }, path),
  ]);
  const seen = await server.seen(1);
  return {
    ...answer,
    issuer: (await response.securityDetails())?.issuer ?? '',
    server: seen.find((one) => one.path === path)?.proto ?? '',
  };
}

const correctRequest = { none: { browser: 'h3', server: 'HTTP/3.0', issuer: THEIRS }, ...pinned() };

/** Browsers use no HTTP/3 through a proxy: the pinned protocol is visible only between helper and server. */
function pinned() {
  return Object.fromEntries(
    Object.entries(PROTO).map(([kind, server]) => [kind, { browser: 'h2', server, issuer: OURS }]),
  ) as Record<Protocol, object>;
}

/** Repeats a request until it uses the wanted protocol, with pauses in which the browser's earlier connections end. */
function untilAsked(wanted: object): Promise<Asked> {
  return vi.waitFor(
    async () => {
      const answer = await asked();
      expect(answer).toMatchObject(wanted);
      return answer;
    },
    { timeout: 60_000, interval: 1100 },
  );
}

/** Pins an origin and waits until the pin is active. */
async function hold(kind: 'h1' | 'h2' | 'h3'): Promise<void> {
  expect(await pins.pin(kind)).toMatchObject({ ok: true, pins: [{ kind }], caHosts: [HOST] });
  await vi.waitFor(
    async () => expect(await pins.all()).toMatchObject([{ kind, state: 'active', reason: '' }]),
    {
      timeout: 60_000,
      interval: 10,
    },
  );
}

/** After the last of the first responses, and before the first of those that are asked for then. */
const BETWEEN_RESPONSES_MS = 100;
/** Far longer than requests that are sent together need to reach the server on a busy machine. */
const FIRST_RESPONSE_MS = 1_000;

/** Sends several requests from the open page, and acts when the first of them have reached the server. */
async function fetchDuring(happen: () => void): Promise<string[]> {
  const asking = page.evaluate(
    ([serials, delayMs]) =>
      Promise.all(
        serials.map((serial) =>
          fetch(`/bytes/100000/${serial}?delay=${delayMs + serial * 20}`, { cache: 'no-store' })
            .then((response) => response.arrayBuffer())
            .then(({ byteLength }) => String(byteLength))
            .catch(String),
        ),
      ),
    [Array.from({ length: ASKED_AT_ONCE }, (_, index) => index), FIRST_RESPONSE_MS] as const,
  );
  await server.seen(ASKED_AT_ONCE);
  // A connection of HTTP/1.1 takes its next request before the browser has read the response to the one before, which it would
  // not request again.
  await new Promise((resolve) => setTimeout(resolve, BETWEEN_RESPONSES_MS));
  happen();
  return asking;
}

/** Pins, or has no pin, until a request shows it. */
async function change(kind: 'none' | 'avoid-h3' | 'h1' | 'h2' | 'h3'): Promise<void> {
  if (kind === 'none') await pins.unpin();
  else if (kind === 'avoid-h3') expect(await pins.pin(kind)).toMatchObject({ ok: true });
  else await hold(kind);
  await untilAsked(kind === 'avoid-h3' ? { browser: 'h2', issuer: THEIRS } : correctRequest[kind]);
}

/** Path of a response with this value of `Strict-Transport-Security`. */
function hsts(value: string): string {
  const answer = { status: 200, fields: [['Strict-Transport-Security', value]], body: '' };
  return `/says?answer=${Buffer.from(JSON.stringify(answer)).toString('base64url')}`;
}

/** Changes from no pin to no pin; together they change from and to each protocol and no pin. */
const CIRCUITS = [
  ['h1', 'h2', 'h3', 'none'],
  ['h3', 'h2', 'h1', 'none'],
  ['h2', 'none', 'h1', 'h3', 'h1', 'none'],
] as const;

test.each(drawShare(CIRCUITS, 1).map((circuit) => [circuit]))(
  'pins an open page to %s in turn',
  async (circuit) => {
    await untilAsked(correctRequest.none);
    expect(await browser.ask(own, { type: 'pins', fresh: true })).toMatchObject({
      caHosts: [HOST],
      pins: [],
    });
    for (const to of circuit) {
      if (to === 'none') expect(await pins.unpin()).toMatchObject({ ok: true, pins: [] });
      else await hold(to);
      expect(await untilAsked(correctRequest[to])).toMatchObject({ digest });
    }
  },
);

test('requests from pages of two sites share no connection under a pin, as without one', async () => {
  const other = await browser.context.newPage();
  // Another site than that of the pinned host.
  await other.goto(server.url('/status/200'));
  for (const kind of ['none', 'avoid-h3', 'h1', 'h2', 'h3'] as const) {
    await change(kind);
    const clients = await listClients([page, other], server);
    expect(clients.map(({ length }) => length)).toEqual([3, 3]);
    expect(
      clients[0]!.filter((client) => clients[1]!.includes(client)),
      kind,
    ).toEqual([]);
  }
  await pins.unpin();
  await other.close();
});

test('a download over HTTP/3 whose path dies in mid-body goes on over TCP, byte for byte', async () => {
  const link = await FaultyLink.open(server.port);
  const downloads = await browser.context.newPage();
  const itsOrigin = `https://${HOST}:${link.port}`;
  const itsPins = new PinRequests((request) => browser.ask(own, request), itsOrigin);
  onTestFinished(async () => {
    await itsPins.unpin();
    await downloads.close();
    await link.close();
  });
  const path = `/file/${DOWNLOAD_BYTES}?tag=a`;
  await page.goto(server.url('/status/200', HOST));
  const whole = await page.evaluate(digestOf, path);
  await downloads.goto(`${itsOrigin}/status/200`);
  expect(await itsPins.pin('h3')).toMatchObject({ ok: true });
  await expect.poll(() => itsPins.all()).toMatchObject([{ kind: 'h3', state: 'active', reason: '' }]);
  // Until it goes through the pin.
  const small = async () => {
    const asked = `/bytes/10/${++serial}`;
    await downloads.evaluate((url) => fetch(url, { cache: 'no-store' }).then(({ ok }) => ok), asked);
    return (await server.seen(1, (one) => one === asked))[0]?.proto;
  };
  await expect.poll(small, { timeout: 60_000, interval: 1100 }).toBe(PROTO.h3);

  const begun = link.passed('down', DOWNLOAD_BYTES / 10);
  const downloaded = downloads.evaluate(digestOf, path);
  await begun;
  link.packetLoss = 1;
  expect(await downloaded).toBe(whole);
  const files = await server.seen(2, (one) => one.startsWith('/file'));
  expect(files.map(({ proto, range }) => [proto, range.replace(/\d+-$/, 'N-')])).toEqual([
    [PROTO.h3, ''],
    [PROTO.h2, 'bytes=N-'],
  ]);
});

/** SHA-256 of a response. */
async function digestOf(url: string): Promise<string> {
  const body = await (await fetch(url, { cache: 'no-store' })).arrayBuffer();
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
  return [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

test('addresses are upgraded under a pin exactly where they are without one (HSTS)', async () => {
  const other = await browser.context.newPage();
  const asked = { none: PROTO.h3, 'avoid-h3': PROTO.h2, ...PROTO };
  let isRemembered = false;
  for (const kind of ['none', 'avoid-h3', 'h1', 'h2', 'h3', 'none'] as const) {
    await change(kind);
    // What was remembered under the former pin, and what the origin then says.
    for (const value of [null, 'max-age=0', 'max-age=60']) {
      if (value !== null) {
        await page.evaluate((path) => fetch(path, { cache: 'no-store' }).then(({ ok }) => ok), hsts(value));
        isRemembered = value !== 'max-age=0';
      }
      const path = `/status/200/plain-${++serial}`;
      const response = await other.goto(server.url(path, HOST).replace('https:', 'http:'));
      const [seen] = await server.seen(isRemembered ? 1 : 0, (one) => one === path);
      expect([kind, value, response!.url(), seen?.proto]).toEqual(
        isRemembered
          ? [kind, value, server.url(path, HOST), asked[kind]]
          : [kind, value, server.url(path, HOST).replace('https:', 'http:'), undefined],
      );
    }
  }
  await other.close();
});

test('the page continues to load when the engine, and then the helper, is killed in mid-transfer', async () => {
  await hold('h2');
  await untilAsked(correctRequest.h2);
  const killAll = (pids: number[]) => {
    expect(pids).not.toEqual([]);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  };
  const whole = Array.from({ length: ASKED_AT_ONCE }, () => '100000');
  expect(await fetchDuring(() => killAll(host.engines()))).toEqual(whole);
  expect(await pins.all()).toMatchObject([{ state: 'lifted', reason: expect.stringContaining('engine') }]);
  await page.reload();
  expect(await untilAsked({})).toMatchObject({ digest });
  await hold('h1');
  await untilAsked(correctRequest.h1);
  expect(await fetchDuring(() => killAll(host.running()))).toEqual(whole);
  expect(await pins.all()).toMatchObject([
    { state: 'lifted', reason: expect.stringContaining('helper stopped') },
  ]);
  await page.reload();
  expect(await untilAsked({})).toMatchObject({ digest });
});

test('lifts the pin in a browser that does not trust the CA, and the page still loads', async () => {
  const other = await start({ HOME: join(host.folder, 'other') });
  try {
    await other.page.goto(server.url('/status/200', HOST));
    const itsPins = new PinRequests((request) => other.browser.ask(other.own, request), origin);
    expect(await itsPins.pin('h2')).toMatchObject({ ok: true });
    await vi.waitFor(
      async () =>
        expect(await itsPins.all()).toMatchObject([
          { state: 'lifted', reason: expect.stringContaining('does not trust the local CA') },
        ]),
      { timeout: 60_000, interval: 20 },
    );
    const response = await other.page.goto(server.url('/status/200?again', HOST));
    expect(response!.status()).toBe(200);
    expect((await response!.securityDetails())!.issuer).toEqual(THEIRS);
  } finally {
    await other.browser.close();
  }
});
