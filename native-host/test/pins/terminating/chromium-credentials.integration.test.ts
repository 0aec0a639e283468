/** What real Chromium makes of requests for user name and password under a pin: the same as without. */

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DISABLED_FEATURES } from '../../../../lab/src/browser/chromium-features.ts';
import { type ServedPins, servePins } from './support/served-pins.ts';

let served: ServedPins;
let browser: Browser;

beforeAll(async () => {
  served = await servePins();
  browser = await chromium.launch({
    executablePath: process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium',
    proxy: {
      server: `http://127.0.0.1:${served.pinned.port}`,
      bypass: '<-loopback>',
    },
    args: [
      '--ignore-certificate-errors',
      '--disable-background-networking',
      DISABLED_FEATURES,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
});

afterAll(async () => {
  await browser.close();
  await served.stop();
});

/** A page of the origin, in a context that knows a password or none. */
async function openPage(password: string): Promise<[Page, BrowserContext]> {
  const httpCredentials = { httpCredentials: { username: 'user', password } };
  const context = await browser.newContext(password === '' ? {} : httpCredentials);
  const page = await context.newPage();
  await page.goto(served.server.url('/status/200'));
  return [page, context];
}

function fetchText(page: Page, path: string, credentials: RequestCredentials): Promise<[number, string]> {
  return page.evaluate(
    async ([from, how]) => {
      const response = await fetch(from, { credentials: how });
      return [response.status, await response.text()];
    },
    [path, credentials] as const,
  );
}

describe.each([null, 'h1', 'h2', 'h3'] as const)('pinned to %s', (protocol) => {
  beforeAll(async () => {
    const { pinned, server } = served;
    if (protocol) await pinned.pin(server.port, protocol);
    else pinned.terminating.unpin('localhost', server.port);
    pinned.lifted.length = 0;
  });

  it.each(['basic', 'digest'])('logs in by %s, or shows the answer to who does not', async (scheme) => {
    const [page, context] = await openPage('s3cret');
    const path = `/credentials/${scheme}`;
    expect(await fetchText(page, path, 'same-origin')).toEqual([200, 'well']);
    await context.close();
    const [other, otherContext] = await openPage('wrong');
    expect(await fetchText(other, path, 'same-origin')).toEqual([401, 'who?']);
    await otherContext.close();
    // Nobody is asked for a password of such a request; of another one the browser would ask its user, and wait.
    const [anonymous, anonymousContext] = await openPage('');
    expect(await fetchText(anonymous, path, 'omit')).toEqual([401, 'who?']);
    await anonymousContext.close();
    expect(served.pinned.lifted).toEqual([]);
  });
});
