import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import { CHROMIUM_ARGS } from '../../src/loads/protocol-args.ts';
import { logged } from '../support/lab-log.ts';
import { FAR, MAIN, PAGE_REQUESTS, writeTinySite } from '../support/lab-site.ts';

const CHROMIUM = process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium';
const obstacle = existsSync(CHROMIUM) ? await labObstacle() : `${CHROMIUM} does not exist`;
if (obstacle) console.warn(`Skipping the lab's tests with Chromium: ${obstacle}`);

const FORCED = {
  h1: ['--disable-http2', '--disable-quic'],
  h2: ['--disable-quic'],
  h3: ['--enable-quic', '--origin-to-force-quic-on=*'],
};
const ALPN = { h1: 'http/1.1', h2: 'h2', h3: 'h3' };

/** A private CA turns QUIC off, but not for a host with a port that is forced to it; Alt-Svc then works as usual. */
const NATURAL = [
  `--origin-to-force-quic-on=${[MAIN, FAR].map((origin) => `${origin.replace('https://', '')}:9`).join(',')}`,
];

describe.skipIf(obstacle)('Chromium in the lab', () => {
  let site: string;
  let lab: Lab;
  let program: string;
  let shared: string[];

  beforeAll(async () => {
    site = await writeTinySite();
    lab = await Lab.up({
      site,
      network: {
        rttMs: 20,
        downMbps: 50,
        upMbps: 20,
        loss: 0,
        lossBurst: 1,
        queue: { ms: 100 },
        udp: 'open',
      },
    });
    program = await lab.wrapper(CHROMIUM);
    shared = [...CHROMIUM_ARGS, `--ignore-certificate-errors-spki-list=${lab.caSpki}`];
  });

  afterAll(async () => {
    await lab?.down();
    await rm(site, { recursive: true, force: true });
  });

  /** Loads the page in a new tab. @returns `nextHopProtocol` of each of its requests. */
  async function load(context: BrowserContext): Promise<string[]> {
    const page = await context.newPage();
    await page.goto(`${MAIN}/`, { waitUntil: 'load' });
    const protocols = await page.evaluate(() =>
      ['navigation', 'resource']
        .flatMap((type) => performance.getEntriesByType(type) as PerformanceResourceTiming[])
        .filter(({ name }) => !name.endsWith('/favicon.ico'))
        .map(({ nextHopProtocol }) => nextHopProtocol),
    );
    await page.close();
    return protocols;
  }

  test.each(['h1', 'h2', 'h3'] as const)('uses only %s when it is forced', async (protocol) => {
    const browser = await chromium.launch({
      executablePath: program,
      args: [...shared, ...FORCED[protocol]],
    });
    try {
      await lab.log();
      const protocols = await load(await browser.newContext());
      expect(protocols).toHaveLength(PAGE_REQUESTS);
      expect(new Set(protocols)).toEqual(new Set([ALPN[protocol]]));
      const entries = await logged(lab, PAGE_REQUESTS);
      expect(new Set(entries.map((entry) => entry.protocol))).toEqual(new Set([protocol]));
      expect(entries.filter((entry) => entry.miss)).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  test('moves from h2 to h3 by itself, in a fresh profile', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-profile-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: program,
      headless: false,
      args: ['--headless=new', ...shared, ...NATURAL],
    });
    try {
      const first = await load(context);
      expect(first).toHaveLength(PAGE_REQUESTS);
      expect(first[0]).toBe('h2');
      await expect
        .poll(async () => new Set(await load(context)), { timeout: 60_000 })
        .toEqual(new Set(['h3']));
    } finally {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    }
  });

  test('decodes the filler images and reports being online', async () => {
    const browser = await chromium.launch({ executablePath: program, args: [...shared, ...FORCED.h2] });
    try {
      const page = await browser.newPage();
      await page.goto(`${MAIN}/`, { waitUntil: 'load' });
      const seen = await page.evaluate(() => ({
        online: navigator.onLine,
        sizes: [...document.images].map(
          ({ naturalWidth, naturalHeight }) => `${naturalWidth}×${naturalHeight}`,
        ),
      }));
      expect(seen).toEqual({ online: true, sizes: Array(PAGE_REQUESTS - 1).fill('20×10') });
    } finally {
      await browser.close();
    }
  });

  test('falls back to h2 where UDP is blocked', async () => {
    await lab.configure({
      rttMs: 20,
      downMbps: 50,
      upMbps: 20,
      loss: 0,
      lossBurst: 1,
      queue: { ms: 100 },
      udp: 'blocked',
    });
    const browser = await chromium.launch({ executablePath: program, args: [...shared, ...NATURAL] });
    try {
      const context = await browser.newContext();
      for (let i = 0; i < 2; i++) expect(new Set(await load(context))).toEqual(new Set(['h2']));
    } finally {
      await browser.close();
    }
  });
});
