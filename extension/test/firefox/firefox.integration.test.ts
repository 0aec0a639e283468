/** The built extension in real Firefox, with the real host, on a server that offers HTTP/3 by Alt-Svc. */
import { mkdirSync, renameSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { EVERY_ORIGIN, HOST_NAME } from '@hopwise/contract';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readAuthority } from '../../../native-host/src/ca/authority-store.ts';
import { forgedLeaf } from '../../../native-host/test/support/forged-leaf.ts';
import { privateLibcurl } from '../../../native-host/test/support/private-libcurl.ts';
import { PROTO, type Server } from '../../../native-host/test/support/server.ts';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { findPort } from '../../src/evidence/every-origin.ts';
import { TestHost } from '../pins/host.ts';
import * as requests from '../pins/pin-requests.ts';
import { H2, H3 } from '../pins/pin-requests.ts';
import { HOST } from '../pins/pinned-host.ts';
import { asContentScript, attackStorage, listHeard, reportAnotherSite } from '../support/captured-page.ts';
import { readOwnItems } from '../support/own-items.ts';
import { FirefoxBrowser, type FirefoxTab, firefoxPath, makeProfile } from './firefox.ts';

const packageRoot = fileURLToPath(new URL('../..', import.meta.url));
/**
 * Stops an idle worker after this time instead of half a minute, to test restarts often. On a busy machine a worker takes seconds to
 * start: one that is stopped as soon leaves some messages unanswered.
 */
const IDLE_MS = 5000;
/** From a hang of the helper until the page has loaded: some 2 s on a quiet machine; nothing else would end it for a minute. */
const HANG_LIMIT_MS = 20_000;
/** Hosts that the helper takes for public ones. */
const PUBLIC_HOSTS = ['public-visited.lab.test', 'public-new.lab.test'] as const;
/** One that it takes for this machine, of the same port of its proxy as the last of these. */
const LOCAL_HOST = findHostOfSamePort(PUBLIC_HOSTS[1]);

function findHostOfSamePort(host: string): string {
  const everyOrigin = { ports: [1, 2, 3, 4, 5, 6, 7, 8], exceptions: [], leftSites: [] };
  const portOf = (name: string) => findPort(`https://${name}/`, everyOrigin);
  return Array.from({ length: 100 }, (_, at) => `local${at}.lab.test`).find(
    (one) => portOf(one) === portOf(host),
  )!;
}

const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

describe.skipIf(!firefox)('Firefox', () => {
  let served: requests.PinnedServer;
  let server: Server;
  let host: TestHost;
  let home: string;
  let browser: FirefoxBrowser;
  /** A page of the extension through which the tests send messages. */
  let own: FirefoxTab;
  let page: FirefoxTab;
  let pins: requests.PinRequests;
  let origin: string;

  beforeAll(async () => {
    served = await requests.serveHost();
    ({ server, origin } = served);
    host = new TestHost();
    home = join(host.folder, 'home');
    mkdirSync(home);
    Object.assign(host.env, {
      XDG_DATA_HOME: join(home, 'data'),
      HOPWISE_LIBCURL: await privateLibcurl(),
      HOPWISE_CA_FILE: server.caFile,
    });
    host.registerInFirefox(home);
    host.giveNames(join(home, 'data/hopwise/hopwise-host.sh'), [HOST]);
    const profile = makeProfile(home, {
      prefs: {
        'network.dns.localDomains': [HOST, LOCAL_HOST, ...PUBLIC_HOSTS].join(','),
        'extensions.background.idle.timeout': IDLE_MS,
      },
      trusted: [server.caFile],
    });
    ca('create', origin);
    ca('trust', '--firefox-profile', profile);
    browser = await FirefoxBrowser.launch(`${packageRoot}dist/firefox`, home, host.env);
    own = await browser.openOwn('devtools.html');
    page = await browser.open(server.url('/status/200', HOST));
    pins = new requests.PinRequests((request) => browser.ask(own, request), origin);
  });

  afterEach(async () => {
    for (const { origin } of await pins.all()) await pins.unpin(origin);
  });

  afterAll(async () => {
    await browser?.close();
    await vi.waitFor(() => expect(host.running()).toEqual([]), { timeout: 60_000 });
    host?.remove();
    await served?.stop();
  });

  const ca = (...words: string[]) => requests.ca(home, ...words);
  const carried = () => requests.carried(page, server);
  const becomes = (wanted: string, by = page) => requests.becomes(wanted, by, server);

  /** Finds the id of the tab that shows a page. */
  const tabOf = (tab: FirefoxTab) =>
    tab
      .evaluate(() => location.href)
      .then((url) =>
        own.evaluate(async (wanted) => {
          const tabs = await chrome.tabs.query({});
          return tabs.find((one) => one.url === wanted)!.id!;
        }, url),
      );

  test('records a page and verifies it with the helper', async () => {
    const tabId = await tabOf(page);
    const latest = () => browser.ask(own, { type: 'latest', tabId });
    await expect.poll(latest).toMatchObject({ ok: true, phase: 'recorded' });
    const answer = await latest();
    if (!answer.ok || !answer.load) throw new Error('nothing is recorded');
    const [first] = answer.load.recording.requests;
    expect(answer.load.recording.browser).toMatch(/^Firefox \d+$/);
    expect(first).toMatchObject({
      url: server.url('/status/200', HOST),
      type: 'document',
      status: 200,
      // Which of the two that the server offers Firefox takes is not what is tested.
      protocol: expect.stringMatching(/^h[23]$/),
      // Light recordings have no headers.
      offersH3: null,
      remoteIp: null,
      initiator: { kind: 'navigation' },
    });
    expect(first!.phases!.responseStartMs).toBeGreaterThanOrEqual(first!.phases!.connectEndMs!);
    await browser.ask(own, { type: 'verify', tabId, rounds: 1 });
    const verified = () => browser.ask(own, { type: 'verification', tabId });
    await expect.poll(verified).toMatchObject({ state: 'done' });
    const done = await latest();
    const protocols = done.ok ? done.load?.verification?.protocols : undefined;
    for (const protocol of ['h1', 'h2', 'h3'] as const) {
      expect(protocols?.[protocol], protocol).toMatchObject({ unavailable: '', answeredRequests: 2 });
    }
  });

  test('a content script reaches nothing that is stored, and is not heard', async () => {
    const tabId = await tabOf(page);
    const reached = await own.evaluate(asContentScript(attackStorage), tabId);
    expect(reached).toEqual({ local: [], session: 'refused', database: [] });
    await browser.ask(own, { type: 'change-settings', change: { recordsInDetail: true } });
    expect(await own.evaluate(asContentScript(listHeard), tabId)).toEqual(['of the page']);
    expect(await own.evaluate(readOwnItems)).toMatchObject({ settings: { checksNetworks: false } });
    expect(await browser.ask(own, { type: 'autopilot' })).toMatchObject({ settings: { isOn: false } });
    const fresh = await browser.openOwn('popup.html');
    await expect.poll(() => fresh.evaluate(() => document.documentElement.lang)).toBe('en');
    await browser.ask(own, { type: 'change-settings', change: { recordsInDetail: false } });
  });

  test('a captured page can store no load of another site', async () => {
    const captured = await browser.open(server.url('/status/200', HOST));
    await captured.evaluate(() => void setTimeout(() => location.assign('/pause/60000?captured')));
    await expect.poll(() => captured.evaluate(() => location.search)).toBe('?captured');
    const tabId = await tabOf(captured);
    // The first report may come before the extension has heard of the new page.
    const report = () => own.evaluate(asContentScript(reportAnotherSite), tabId);
    await expect
      .poll(() => report().then(() => browser.ask(own, { type: 'latest', tabId })))
      .toMatchObject({
        ok: true,
        problem: 'This page could not be recorded: its report names another site than the browser does.',
      });
    await captured.goto(server.url('/status/200', HOST));
  });

  test('the popup requests access to pages when it is withheld', async () => {
    const pages = { origins: ['http://*/*', 'https://*/*'] };
    const may = () => own.evaluate((pages) => chrome.permissions.contains(pages), pages);
    const popup = await browser.openOwn('popup.html');
    const button = () => popup.evaluate(() => document.querySelector('section button')?.textContent ?? '');
    await expect.poll(button).not.toBe('Allow on all sites');
    await own.evaluate((pages) => chrome.permissions.remove(pages), pages);
    expect(await may()).toBe(false);
    await popup.reload();
    await expect.poll(button).toBe('Allow on all sites');
    await popup.click('section button');
    await expect.poll(may).toBe(true);
  });

  test('pins are offered once the user has allowed them', async () => {
    expect(await pins.pin()).toEqual({
      ok: false,
      error: expect.stringContaining('Pins have not been allowed yet'),
    });
    await own.evaluate(() => {
      document.body.innerHTML = '<button>Allow pins</button>';
      document.querySelector('button')!.onclick = () =>
        void chrome.permissions.request({ permissions: ['proxy'] });
    });
    await own.click('button');
    await expect
      .poll(() => browser.ask(own, { type: 'pins' }))
      .toMatchObject({ ok: true, allowed: true, pins: [] });
  });

  test('an open page avoids HTTP/3 from its next request on, and returns to it', async () => {
    await becomes(H3);
    expect(await pins.pin()).toMatchObject({ ok: true, pins: [{ origin, state: 'active' }] });
    const until = Date.now() + 2 * IDLE_MS;
    while (Date.now() < until) expect(await carried()).toBe(H2);
    expect(host.running()).toHaveLength(1);
    expect(await pins.unpin()).toMatchObject({ ok: true, pins: [] });
    expect(await carried()).toBe(H3);
  });

  test('the autopilot carries out a rule after a load, and undoes all', async () => {
    const siteRules = [{ site: HOST, rule: 'avoid-h3' as const }];
    await browser.ask(own, { type: 'change-autopilot', change: { isOn: true, siteRules } });
    await page.goto(server.url('/status/200?autopilot', HOST));
    await expect.poll(() => pins.all()).toMatchObject([{ origin, kind: 'avoid-h3', state: 'active' }]);
    await becomes(H2);
    expect(await browser.ask(own, { type: 'undo-autopilot' })).toMatchObject({
      runs: [{ trigger: 'rule', state: 'ended', end: { cause: 'you' } }],
    });
    expect(await pins.all()).toEqual([]);
    await becomes(H3);
    await browser.ask(own, { type: 'change-autopilot', change: { isOn: false, siteRules: [] } });
  });

  test('a pin of this machine waits until Firefox uses a proxy for it', async () => {
    const here = server.url('');
    // After a private window exists Firefox opens all further tabs in it, where the extension does not run.
    const local = await browser.open(server.url('/status/200'));
    await becomes(H3, local);
    const answer = await new requests.PinRequests((request) => browser.ask(own, request), here).pin();
    const waiting = [{ origin: here, state: 'waiting', reason: expect.stringContaining('hijacking') }];
    expect(answer).toMatchObject({ ok: true, pins: waiting });
    expect(await requests.carried(local, server)).toBe(H3);
    await browser.setPref('network.proxy.allow_hijacking_localhost', true);
    try {
      await becomes(H2, local);
      await expect.poll(() => pins.all()).toMatchObject([{ origin: here, state: 'active', reason: '' }]);
    } finally {
      await browser.setPref('network.proxy.allow_hijacking_localhost', false);
    }
  });

  test('a page gets nothing from the proxy, and a pin leads to no local server that was not allowed', async () => {
    await becomes(H3);
    expect(await pins.pin()).toMatchObject({ ok: true, pins: [{ state: 'active' }] });
    await becomes(H2);
    await browser.ask(own, { type: 'disallow-local', origin });
    // Through a tunnel that the pin before it was allowed neither.
    expect(await pins.pin('avoid-h3', false)).toMatchObject({ ok: true });
    // Firefox begins to use the proxy with one of the next requests.
    await expect
      .poll(() => carried().then(() => pins.all()), { timeout: 60_000, interval: 50 })
      .toMatchObject([{ state: 'lifted', reason: expect.stringContaining('is a loopback address') }]);
    await becomes(H3);
    await pins.unpin();

    expect(await pins.pin()).toMatchObject({ ok: true, pins: [{ state: 'active' }] });
    await becomes(H2);
    const ports = host.listeningPorts();
    expect(ports).not.toEqual([]);
    for (const target of ports.flatMap((port) => [
      `http://127.0.0.1:${port}/`,
      `https://127.0.0.1:${port}/`,
    ])) {
      const reached = await page.evaluate(
        (url) =>
          fetch(url, { mode: 'no-cors', cache: 'no-store' }).then(
            ({ type }) => type,
            () => 'nothing',
          ),
        target,
      );
      expect(reached, target).toBe('nothing');
    }
    expect(await requests.carried(page, server)).toBe(H2);
  });

  test('every page avoids HTTP/3 at once, but for hosts that are not public', async () => {
    const every = new requests.PinRequests((request) => browser.ask(own, request), EVERY_ORIGIN);
    const visited = await browser.open(server.url('/status/200', PUBLIC_HOSTS[0]));
    await becomes(H3, visited);
    expect(await every.pin('avoid-h3', false)).toMatchObject({ ok: true, pins: [{ state: 'active' }] });
    expect(await requests.carried(visited, server)).toBe(H2);
    const anew = await browser.open(server.url('/status/200', PUBLIC_HOSTS[1]));
    for (let request = 0; request < 5; request++) expect(await requests.carried(anew, server)).toBe(H2);
    // The helper resolves it to this machine, and the browser loads it by itself.
    const local = await browser.open(server.url('/status/200', LOCAL_HOST));
    expect(await requests.carried(local, server)).toMatch(/HTTP/);
    await becomes(H2, anew);
    for (let request = 0; request < 5; request++) expect(await requests.carried(anew, server)).toBe(H2);
    await every.unpin();
    await becomes(H3, visited);
  });

  test('private windows are not affected', async () => {
    await pins.pin();
    expect(await carried()).toBe(H2);
    await becomes(H3, await browser.openPrivate(server.url('/status/200', HOST)));
  });

  test('without the helper the page still loads, and the user sees the reason', async () => {
    await becomes(H3);
    await pins.pin();
    expect(await carried()).toBe(H2);
    process.kill(host.running()[0]!, 'SIGKILL');
    await becomes(H3);
    await expect
      .poll(() => pins.all())
      .toMatchObject([{ origin, state: 'lifted', reason: expect.stringContaining('helper stopped') }]);
  });

  test('a proxy that the user has set is left unchanged', async () => {
    await browser.setPref('network.proxy.type', 1);
    try {
      expect(await pins.pin()).toEqual({ ok: false, error: expect.stringContaining('already uses a proxy') });
    } finally {
      await browser.setPref('network.proxy.type', 5);
    }
  });

  /** Open transfers keep a host running although nothing is pinned. */
  async function endHosts(): Promise<void> {
    for (const pid of host.running()) process.kill(pid);
    await expect.poll(() => host.running()).toEqual([]);
  }

  test('pins an open page to each protocol', async () => {
    for (const kind of ['h1', 'h2', 'h3'] as const) {
      expect(await pins.pin(kind)).toMatchObject({ ok: true, pins: [{ kind }], caHosts: [HOST] });
      await expect
        .poll(() => pins.all(), { timeout: 60_000, interval: 20 })
        .toMatchObject([{ kind, state: 'active', reason: '' }]);
      // Firefox uses no HTTP/3 through a proxy: the pinned protocol is visible only between helper and server.
      await becomes(`h2 ${PROTO[kind]}`);
    }
    await pins.unpin();
    await becomes(H3);
  });

  test('a pin under which an answer cannot be passed on is lifted, and Firefox gets the answer by itself', async () => {
    await expect.poll(() => pins.pin('h1')).toMatchObject({ ok: true });
    await becomes(`h2 ${PROTO.h1}`);
    const ask = () => page.evaluate(() => fetch('/large/200000').then((answer) => answer.text()));
    expect(await ask()).toBe('large');
    expect(await pins.all()).toMatchObject([
      { state: 'lifted', reason: expect.stringMatching(/larger than allowed|cannot be forwarded/) },
    ]);
  });

  test.each(['avoid-h3', 'h2'] as const)(
    'a plain address of a server that wants https alone (HSTS) is upgraded under a pin as %s, too',
    async (kind) => {
      // Firefox would try https by itself.
      await browser.setPref('dom.security.https_first', false);
      await expect.poll(() => pins.pin(kind)).toMatchObject({ ok: true });
      await becomes(H2);
      await page.evaluate(() => fetch('/cookies').then((answer) => answer.text()));
      const path = `/status/200/plain-${kind}`;
      await page.goto(server.url(path, HOST).replace('https:', 'http:'));
      expect(await page.evaluate(() => location.protocol)).toBe('https:');
      const seen = await server.seen(1, (one) => one === path);
      expect(seen).toMatchObject([{ proto: 'HTTP/2.0' }]);
    },
  );

  test.each(['none', 'avoid-h3', 'h2', 'h3'] as const)(
    'requests from pages of two sites share no connection, pinned as: %s',
    async (kind) => {
      if (kind !== 'none') {
        await expect.poll(() => pins.pin(kind)).toMatchObject({ ok: true });
        await becomes(kind === 'avoid-h3' ? H2 : `h2 ${PROTO[kind]}`);
      }
      const other = await browser.open(server.url('/status/200'));
      const clients = await requests.listClients([page, other], server);
      expect(clients.map(({ length }) => length)).toEqual([3, 3]);
      expect(clients[0]!.filter((client) => clients[1]!.includes(client))).toEqual([]);
    },
  );

  test('a stolen key of the local CA makes certificates of pinned hosts alone', async () => {
    const folder = join(home, 'data/hopwise/ca');
    const [issuer] = readAuthority(folder)!.issuers;
    const asked: string[] = [];
    const thief = createServer(
      { SNICallback: (host, done) => done(null, createSecureContext(forgedLeaf(issuer!, host))) },
      ({ headers }, response) => {
        asked.push(new URL(`https://${headers.host}`).hostname);
        response.end();
      },
    ).on('tlsClientError', () => {});
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      thief.closeAllConnections();
      thief.close();
    });
    const { port } = thief.address() as AddressInfo;
    const reach = (host: string) =>
      page.evaluate(
        (url) =>
          fetch(url, { mode: 'no-cors' }).then(
            () => 'reached',
            () => 'nothing',
          ),
        `https://${host}:${port}/`,
      );
    expect(await reach(HOST)).toBe('reached');
    for (const host of PUBLIC_HOSTS) expect(await reach(host), host).toBe('nothing');
    expect(asked).toEqual([HOST]);
  });

  test.each(drawShare(['avoid-h3', 'h1', 'h2', 'h3'] as const, 1))(
    '%s: an open page gets answers without the helper when that hangs',
    async (kind) => {
      await expect.poll(() => pins.pin(kind)).toMatchObject({ ok: true });
      await expect
        .poll(() => pins.all(), { timeout: 60_000, interval: 20 })
        .toMatchObject([{ kind, state: 'active' }]);
      await becomes(kind === 'avoid-h3' ? H2 : `h2 ${PROTO[kind]}`);
      const begin = performance.now();
      process.kill(host.running()[0]!, 'SIGSTOP');
      // Firefox does not repeat the request that the end of the helper interrupts.
      await becomes(H3);
      expect(performance.now() - begin).toBeLessThan(HANG_LIMIT_MS);
      await expect
        .poll(() => pins.all())
        .toMatchObject([{ kind, state: 'lifted', reason: expect.stringContaining('stopped responding') }]);
      await expect.poll(() => host.running()).toEqual([]);
    },
  );

  test('lifts the pin when the CA is not trusted, and the page still loads', async () => {
    await endHosts();
    // Another CA for the same host.
    ca('create', origin);
    expect(await pins.pin('h1')).toMatchObject({ ok: true });
    await expect
      .poll(() => pins.all(), { timeout: 60_000, interval: 20 })
      .toMatchObject([{ state: 'lifted', reason: expect.stringContaining('does not trust the local CA') }]);
    await becomes(H3);
  });

  test('says that the helper is not installed', async () => {
    const manifest = join(home, '.mozilla/native-messaging-hosts', `${HOST_NAME}.json`);
    await endHosts();
    renameSync(manifest, `${manifest}.away`);
    try {
      // The extension may not have noticed yet that the previous host has ended.
      await expect
        .poll(() => pins.pin())
        .toEqual({ ok: false, error: expect.stringContaining('“First steps” in the options') });
    } finally {
      renameSync(`${manifest}.away`, manifest);
    }
  });
});
