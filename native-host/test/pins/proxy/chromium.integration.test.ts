/** What Chromium makes of the proxy, and what its pages can make of it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DISABLED_FEATURES } from '../../../../lab/src/browser/chromium-features.ts';
import { LoopbackProxy } from '../../../src/pins/proxy/loopback-proxy.ts';
import { serveProgram } from '../../support/serve-program.ts';
import { Origin, until } from './support/peers.ts';

const served = serveProgram();
let proxy: LoopbackProxy;
let proxyPort: number;
let browser: Browser;
let page: Page;
const routed: string[] = [];
const resets: string[] = [];

beforeEach(async () => {
  await served.server.seen();
  routed.length = 0;
  resets.length = 0;
  proxy = new LoopbackProxy({
    route: (host, port) => {
      routed.push(`${host}:${port}`);
      return { kind: 'tunnel', from: 'loopback' };
    },
    log: () => {},
    onReset: (host, port) => resets.push(`${host}:${port}`),
    lookup: async (host) => {
      if (host !== 'a.lab.test') throw new Error(`ENOTFOUND ${host}`);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  proxyPort = await proxy.listen();
  // As the extension pins: some hosts through the proxy, or without it where that does not answer.
  const pac = `function FindProxyForURL(url, host) {
    return /^[ab]\\.lab\\.test$|\\.example$/.test(host) ? 'PROXY 127.0.0.1:${proxyPort}; DIRECT' : 'DIRECT';
  }`;
  browser = await chromium.launch({
    executablePath: process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium',
    args: [
      `--proxy-pac-url=data:application/x-ns-proxy-autoconfig;base64,${Buffer.from(pac).toString('base64')}`,
      '--host-resolver-rules=MAP *.lab.test 127.0.0.1',
      '--disable-background-networking',
      DISABLED_FEATURES,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  page = await browser.newPage({ ignoreHTTPSErrors: true });
});

afterEach(async () => {
  await browser.close();
  await proxy.close();
});

/** The error of a navigation, '' where the page loaded. */
async function visit(url: string): Promise<string> {
  const onError = page.waitForEvent('framenavigated', (frame) => frame.url().startsWith('chrome-error:'));
  // Where the page loads, the error does not matter.
  onError.catch(() => {});
  try {
    await page.goto(url);
    return '';
  } catch (fault) {
    const name = /net::ERR_\w+/.exec((fault as Error).message)?.[0];
    if (!name) throw fault;
    // The browser goes on to its own page about the error.
    await onError;
    return name;
  }
}

it('loads a page through a tunnel and keeps what is in it', async () => {
  expect(await visit(served.server.url('/status/200', 'a.lab.test'))).toBe('');
  const got = await page.evaluate(async () => {
    const sizes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const response = await fetch(`/bytes/200000/${index}`);
        return (await response.arrayBuffer()).byteLength;
      }),
    );
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return { sizes, protocols: [...new Set(entries.map(({ nextHopProtocol }) => nextHopProtocol))] };
  });
  expect(got.sizes).toEqual(new Array(20).fill(200_000));
  expect(got.protocols).toEqual(['h2']);
  expect(new Set(routed)).toEqual(new Set([`a.lab.test:${served.server.port}`]));
  expect(proxy.open).toBeGreaterThan(0);
});

it('leaves an origin that is dead to the error of the browser, and stays in use', async () => {
  expect(await visit(served.server.url('/status/200', 'a.lab.test'))).toBe('');
  expect(await visit('https://dead.example/')).toBe('net::ERR_NAME_NOT_RESOLVED');
  const gone = await Origin.listen(() => {});
  const { port } = gone;
  await gone.close();
  expect(await visit(`https://a.lab.test:${port}/`)).toBe('net::ERR_CONNECTION_REFUSED');
  expect(new Set(resets)).toEqual(new Set(['dead.example:443', `a.lab.test:${port}`]));
  routed.length = 0;
  const other = await served.program.start();
  expect(await visit(other.url('/status/200', 'a.lab.test'))).toBe('');
  expect(routed).toContain(`a.lab.test:${other.port}`);
  await other.stop();
});

it('lets the browser reach by itself what the proxy cannot', async () => {
  expect(await visit(served.server.url('/status/200', 'b.lab.test'))).toBe('');
  expect(resets).toContain(`b.lab.test:${served.server.port}`);
  expect((await served.server.seen(1)).map(({ host }) => host)).toContain(`b.lab.test:${served.server.port}`);
});

it('reveals nothing to pages', async () => {
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>a page</title>');
  }).listen(0, '127.0.0.1');
  await until(() => site.listening);
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const learned = await page.evaluate(async (port) => {
    const at = `127.0.0.1:${port}`;
    const outcome = (request: Promise<unknown>) => request.then(String, ({ name }) => name as string);
    const socket = new WebSocket(`ws://${at}/`);
    const image = new Image();
    const peer = new RTCPeerConnection({
      iceServers: [{ urls: `turn:${at}?transport=tcp`, username: 'hopwise', credential: 'x' }],
      iceTransportPolicy: 'relay',
    });
    const candidates: string[] = [];
    const outcomes = Promise.all([
      outcome(fetch(`http://${at}/`)),
      outcome(fetch(`http://${at}/`, { mode: 'no-cors' })),
      outcome(fetch(`http://${at}/`, { method: 'POST', mode: 'no-cors', body: 'CONNECT a.lab.test:443' })),
      outcome(fetch(`http://${at}/`, { method: 'CONNECT' })),
      outcome(fetch(`https://${at}/`, { mode: 'no-cors' })),
      new Promise((resolve) => {
        socket.onopen = () => resolve('open');
        socket.onclose = ({ code }) => resolve(code);
      }),
      new Promise((resolve) => {
        image.onload = () => resolve('loaded');
        image.onerror = () => resolve('error');
        image.src = `http://${at}/a.png`;
      }),
      new Promise((resolve) => {
        peer.onicecandidate = ({ candidate }) => {
          if (candidate) candidates.push(candidate.candidate);
          else resolve(candidates);
        };
      }),
    ]);
    peer.createDataChannel('a');
    await peer.setLocalDescription();
    return outcomes;
  }, proxyPort);
  // The same as from a closed port.
  expect(learned).toEqual([...new Array(5).fill('TypeError'), 1006, 'error', []]);
  expect(routed).toEqual([]);
  await new Promise((resolve) => site.close(resolve));
});
