/** What real Chromium makes of a request over HTTP/1.1 that is given back to it: it sends it again, and shows no error. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DISABLED_FEATURES } from '../../../../lab/src/browser/chromium-features.ts';
import { newAuthority, type OwnOrigin, Pinned } from './support/pinned.ts';

/** The browser asks for no icon beside what the test asks for. */
const PAGE = '<!doctype html><link rel="icon" href="data:,"><title>well</title>';

let folder: string;
let pinned: Pinned;
let browser: Browser;
let page: Page;
let own: OwnOrigin;
/** The requests that the origin has seen: method, path, and the bytes of a body. */
const seen: string[] = [];
let changes = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-terminating-'));
  pinned = await Pinned.start(folder, []);
  browser = await chromium.launch({
    executablePath: process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium',
    proxy: {
      server: `http://127.0.0.1:${pinned.port}`,
      bypass: '<-loopback>',
    },
    args: [
      '--disable-http2',
      // Not page by page: that begins with an alert to our side.
      '--ignore-certificate-errors',
      '--disable-background-networking',
      DISABLED_FEATURES,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
});

afterAll(async () => {
  await browser.close();
  await pinned.stop(folder);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let bytes = 0;
  for await (const chunk of request) bytes += (chunk as Buffer).length;
  seen.push(`${request.method} ${request.url} ${bytes}`);
  response.setHeader('content-type', 'text/html').end(PAGE);
}

beforeEach(async () => {
  own = await pinned.origin((request, response) => void answer(request, response));
  await pinned.pin(own.port, 'h1');
  page = await browser.newPage();
  await page.goto(`https://localhost:${own.port}/`);
  pinned.lifted.length = 0;
  seen.length = 0;
  return async () => {
    await page.close();
    pinned.terminating.unpin('localhost', own.port);
    own.server.close();
    own.server.closeAllConnections();
  };
});

/** The engine takes no certificate of the origin's from now on, the browser every one. */
async function changeCertificate(): Promise<void> {
  changes += 1;
  own.issuer = (await newAuthority(join(folder, `other-${changes}`))).issuer;
  // Or the engine resumes its session without a certificate.
  own.server.setTicketKeys(randomBytes(48));
  own.server.closeAllConnections();
}

it.each([
  ['GET', 0],
  ['POST', 0],
  ['POST', 5],
  ['PUT', 200_000],
])('sends %s with a body of %i bytes', async (method, bytes) => {
  await changeCertificate();
  const got = await page.evaluate(
    async ([method, bytes]) => {
      const response = await fetch('/again', {
        method,
        ...(bytes > 0 ? { body: new Uint8Array(bytes) } : {}),
      });
      return [response.status, await response.text()];
    },
    [method, bytes] as [string, number],
  );
  expect(got).toEqual([200, expect.stringContaining('well')]);
  expect(pinned.lifted).toHaveLength(1);
  expect(seen).toEqual([`${method} /again ${bytes}`]);
});

it('sends a form', async () => {
  await page.setContent(
    `<base href="https://localhost:${own.port}/"><form method="post" action="/form"><input name="a" value="b"></form>`,
  );
  await changeCertificate();
  await Promise.all([page.waitForNavigation(), page.evaluate(() => document.forms[0]!.submit())]);
  expect([page.url(), await page.title()]).toEqual([`https://localhost:${own.port}/form`, 'well']);
  expect(pinned.lifted).toHaveLength(1);
  expect(seen).toEqual(['POST /form 3']);
});
