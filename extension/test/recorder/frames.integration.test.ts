/** What a light recording in real browsers has of a page's frames. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { PageAnswers, PageRequest } from '../../src/background/page-requests.ts';
import { firefoxPath } from '../firefox/firefox.ts';
import { launchForTest } from '../firefox/launch-for-test.ts';
import { launch } from '../support/browser.ts';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const firefox = firefoxPath();
if (!firefox) console.log('skipped: no Firefox (Debian: firefox-esr, or HOPWISE_FIREFOX)');

let server: Server;
let url: string;
/** The same server as another site. */
let other: string;

const pages: Record<string, () => string> = {
  '/frames':
    () => `<iframe id="led"></iframe><iframe src="${other}/excluded"></iframe><p id="host"></p><script>
    led.contentWindow.location.replace('/led');
    host.attachShadow({ mode: 'closed' }).innerHTML = '<iframe src="/in-shadow"></iframe>';
  </script>`,
  '/led': () => '<img src="/of-led.png">',
  '/in-shadow': () => '<img src="/of-shadow.png">',
  '/excluded': () => `<img src="/of-excluded.png"><iframe srcdoc="<img src='/of-written.png'>"></iframe>
    <iframe sandbox srcdoc="<img src='/of-sandboxed.png'>"></iframe>`,
};

beforeAll(async () => {
  server = createServer(({ url: path = '' }, response) => {
    const page = pages[path];
    response.writeHead(200, {
      'content-type': page ? 'text/html' : 'image/png',
      'cache-control': 'no-store',
    });
    response.end(page?.() ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  [url, other] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A browser with the extension as it ships. */
interface Browser {
  ask<T extends PageRequest>(request: T): Promise<PageAnswers[T['type']]>;
  open(url: string): Promise<unknown>;
}

async function startChromium(): Promise<Browser> {
  const browser = await launch(`${built}chromium`, [], [], {}, 'en-US', false);
  onTestFinished(() => browser.close());
  const own = await browser.openOwn('devtools.html');
  return {
    ask: (request) => browser.ask(own, request),
    open: async (page) => (await browser.context.newPage()).goto(page),
  };
}

async function startFirefox(): Promise<Browser> {
  const browser = await launchForTest();
  const own = await browser.openOwn('popup.html');
  return { ask: (request) => browser.ask(own, request), open: (page) => browser.open(page) };
}

const BROWSERS = [
  { name: 'Chromium', start: startChromium },
  ...(firefox ? [{ name: 'Firefox', start: startFirefox }] : []),
];

test.each(BROWSERS)(
  '$name: requests of frames are recorded, wherever they are and whatever led to their documents, but for excluded sites',
  async ({ start }) => {
    const browser = await start();
    await browser.ask({ type: 'change-settings', change: { excludedSites: ['localhost'] } });
    await browser.open(`${url}/frames`);
    const read = async () => {
      const answer = await browser.ask({ type: 'latest', url: `${url}/frames` });
      return answer.ok ? answer.load?.recording.requests.map((request) => request.url) : undefined;
    };
    await expect.poll(read, { timeout: 20_000 }).toBeDefined();
    const paths = (await read())!.filter((one) => !one.endsWith('/favicon.ico')).sort();
    expect(paths).toEqual(
      ['/frames', '/in-shadow', '/led', '/of-led.png', '/of-shadow.png'].map((path) => url + path),
    );
  },
);
