/**
 * A check of the network by a server that polices its own UDP, in real Chromium with the real helper: although the network leaves UDP open,
 * HTTP/3 is kept off, until the next other site's own server has been asked.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERY_ORIGIN } from '@hopwise/contract';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import type { Site } from '@hopwise/lab/sites/site';
import { MIN_CHECK_BYTES } from '@hopwise/pageload-emulator';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowPins } from '../../extension/test/pins/pinning-chromium.ts';
import { BrowserOnLink } from './browser-on-link.ts';

const POLICED = 'https://www.policed.test';
const OTHER = 'https://www.other.test';
/** A check takes ten seconds at most, but only begins once the load is stored. */
const CHECKED = { timeout: 60_000, interval: 200 };
/** What the link takes outweighs what a busy machine adds, which differs between the protocols. */
const OPEN = { ...networkOf(profileNamed('cable')), rttMs: 50, downMbps: 10 };

let folder: string;
let link: BrowserOnLink;
let tab: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-test-'));
  await writeTwoSites(folder);
  link = await BrowserOnLink.open(folder, OPEN, { publicAddresses: true });
  await allowPins(link.own);
  await link.browser.ask(link.own, { type: 'change-settings', change: { checksNetworks: true } });
  await link.browser.ask(link.own, { type: 'change-autopilot', change: { isOn: true } });
  tab = await link.newTab();
});

afterAll(async () => {
  await link?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Each has a server of its own, which offers HTTP/3, and enough images for a check. */
async function writeTwoSites(dir: string): Promise<void> {
  const images = Array.from({ length: 4 }, (_, index) => `/${index}.png`);
  const resource = { status: 200, thinkMs: 0 };
  const site: Site = {
    format: 'hopwise-site',
    version: 1,
    name: 'two-sites',
    entry: `${POLICED}/`,
    origins: [POLICED, OTHER].map((origin) => ({
      origin,
      protocols: ['h1', 'h2', 'h3'],
      extraRttMs: 0,
      ...(origin === POLICED && { udpMbps: 0.8 }),
    })),
    resources: [POLICED, OTHER].flatMap((origin): Site['resources'] => [
      {
        ...resource,
        origin,
        path: '/',
        headers: { 'content-type': 'text/html' },
        body: { file: 'index.html' },
      },
      ...images.map((path): Site['resources'][number] => ({
        ...resource,
        origin,
        path,
        headers: { 'content-type': 'image/png' },
        body: { filler: 'png', bytes: 70_000, width: 20, height: 10 },
      })),
    ]),
  };
  const html = `<!doctype html><title>Site</title>${images.map((path) => `<img src="${path}">`).join('')}`;
  await writeFile(join(dir, 'index.html'), html);
  await writeFile(join(dir, 'site.json'), JSON.stringify(site));
}

/** What is known of the network, and whether HTTP/3 is off for all pages. */
async function readState() {
  const [autopilot, pins] = await Promise.all([
    link.browser.ask(link.own, { type: 'autopilot' }),
    link.browser.ask(link.own, { type: 'pins' }),
  ]);
  if (!autopilot.ok) throw new Error(autopilot.error);
  if (!pins.ok) throw new Error(pins.error);
  const { slowsH3, keepsOffH3 } = autopilot.network;
  const pinned = pins.pins.map(({ origin, kind, state }) => `${origin} ${kind} ${state}`);
  return { slowsH3, keepsOffH3, pinned };
}

/** Bytes that a server has answered over HTTP/3 since the servers were last asked, by origin. */
async function countH3Bytes(): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { origin, protocol, bytes } of await link.listAnswers()) {
    if (protocol === 'h3') sums[origin] = (sums[origin] ?? 0) + bytes;
  }
  return sums;
}

/** Visits a page. @returns the protocol of its document */
async function visit(origin: string): Promise<string> {
  await tab.goto(`${origin}/`);
  return tab.evaluate(
    () => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).nextHopProtocol,
  );
}

test('what one server has shown of UDP holds until that of another site shows otherwise', async () => {
  await visit(POLICED);
  await expect
    .poll(readState, CHECKED)
    .toEqual({ slowsH3: true, keepsOffH3: true, pinned: [`${EVERY_ORIGIN} avoid-h3 active`] });
  expect(Object.keys(await countH3Bytes())).toEqual([POLICED]);

  expect(await visit(OTHER)).toBe('h2');
  await expect.poll(readState, CHECKED).toEqual({ slowsH3: false, keepsOffH3: false, pinned: [] });
  // The browser itself does not use HTTP/3 before that: these are the helper's.
  const asked = await countH3Bytes();
  expect(Object.keys(asked)).toEqual([OTHER]);
  expect(asked[OTHER]).toBeGreaterThanOrEqual(MIN_CHECK_BYTES);
});
