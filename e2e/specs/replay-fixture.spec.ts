/** The fixtures for replaying pages, as a test engineer uses them. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { Site } from '@hopwise/lab/sites/site';
import { type Assignment, expect, PROTOCOLS, test } from '../src/playwright/index.ts';

// The tests with the same page come one after another: they share a lab.
test.describe.configure({ mode: 'default' });

test.describe('a bundled page', () => {
  test.use({ replay: { page: 'shop', network: 'lte', protocol: 'h3', disturbed: 'keep' } });

  test('a page, a network and a protocol', async ({ load, replayPage, replayUrl, lab }, info) => {
    const loaded = await load();
    expect(loaded).toUseProtocol('h3');
    expect(loaded).toLoadWithin(60_000);
    expect(loaded).not.toLoadWithin(500);
    expect([loaded]).toMeetBudget({
      loadTimeMs: 60_000,
      firstPaintMs: 60_000,
      originsOnBest: 0,
      gainLeft: 1,
    });
    expect([loaded]).not.toMeetBudget({ firstPaintMs: 100 });
    expect(loaded.requests.length).toBeGreaterThan(70);
    expect(loaded.failed).toEqual([]);
    expect(loaded.recording.pltMs).toBe(loaded.pltMs);

    // A test's own steps are on the same network, under the same protocol.
    await lab.log();
    const before = (await lab.stats()).down.deliveredBytes;
    await replayPage.goto(replayUrl);
    await expect(replayPage).toHaveTitle(/\w/);
    expect((await lab.stats()).down.deliveredBytes - before).toBeGreaterThan(500_000);
    const { entries } = await lab.log();
    expect(new Set(entries.map(({ protocol }) => protocol))).toEqual(new Set(['h3']));

    expect(info.annotations.map(({ description }) => description)).toContainEqual(
      expect.stringMatching(/^shop, lte, h3: PLT \d+ ms, .*\(84 h3\)/),
    );
    expect(info.attachments.map(({ name }) => name)).toContain('recording 1: shop, lte, h3');
  });

  test('an assignment and the repeat view, for one load each', async ({ load, lab }) => {
    const assignment = Object.fromEntries(
      lab.origins.map(({ origin }, index) => [origin, PROTOCOLS[index % 3]]),
    ) as Assignment;
    const assigned = await load({ protocol: assignment, network: 'cable' });
    expect(assigned).toUseProtocol(assignment);
    expect(new Set(assigned.requests.map(({ protocol }) => protocol)).size).toBe(3);

    const warm = await load({ view: 'warm', network: 'cable' });
    expect(warm.view).toBe('warm');
    expect(warm).toUseProtocol('h3');
    expect(warm.requests.some(({ fromCache }) => fromCache)).toBe(true);
  });

  test.describe('in a group, with figures of its own', () => {
    test.use({
      replay: { page: 'shop', network: { profile: 'cable', udp: { policedMbps: 2 } }, disturbed: 'keep' },
    });

    test('the prediction is made for the network', async ({ prediction }) => {
      expect(prediction.best).not.toBe('h3');
      expect(prediction.network.udp).toBe(2);
    });
  });
});

/** A document, and an image of another origin's. */
const HAR = {
  log: {
    pages: [{ id: 'page', startedDateTime: '2026-03-02T09:00:00.000Z', pageTimings: { onLoad: 400 } }],
    entries: ['https://a.example/', 'https://b.example/1.png'].map((url, index) => ({
      pageref: 'page',
      startedDateTime: `2026-03-02T09:00:00.${index}00Z`,
      time: 60,
      request: { method: 'GET', url, httpVersion: 'h2', headers: [] },
      response: {
        status: 200,
        httpVersion: 'h2',
        headers: [],
        content: { size: 5000, mimeType: index === 0 ? 'text/html' : 'image/png' },
        bodySize: 5000,
        redirectURL: '',
      },
      timings: { blocked: 0, dns: -1, connect: -1, ssl: -1, send: 0, wait: 30, receive: 30 },
    })),
  },
};

const recorded = test.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
  replay: async ({}, use, info) => {
    const file = info.outputPath('recorded.har');
    await writeFile(file, JSON.stringify(HAR));
    await use({ page: file, network: 'fast', ipVersion: 6, protocol: 'h2' });
  },
});

recorded('a HAR, over IPv6', async ({ load, replayPage, replayUrl }) => {
  const loaded = await load();
  expect(loaded.page).toBe('recorded');
  expect(loaded).toUseProtocol('h2');
  expect(loaded.requests).toHaveLength(HAR.log.entries.length);
  const response = await replayPage.goto(replayUrl);
  expect((await response?.serverAddr())?.ipAddress).toContain(':');
});

const ORIGIN = 'https://chance.test';
const replayed = test.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
  replay: async ({}, use, info) => {
    const site: Site = {
      format: 'hopwise-site',
      version: 1,
      name: 'chance',
      entry: `${ORIGIN}/`,
      origins: [{ origin: ORIGIN, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
      resources: [
        {
          origin: ORIGIN,
          path: '/',
          status: 200,
          headers: { 'content-type': 'text/html' },
          body: { file: 'index.html' },
          thinkMs: 0,
        },
      ],
      determinism: { seed: 7, epochMs: Date.UTC(2020, 0, 1) },
    };
    const dir = info.outputPath('chance');
    await mkdir(dir);
    await writeFile(`${dir}/site.json`, JSON.stringify(site));
    await writeFile(
      `${dir}/index.html`,
      '<!doctype html><title>Chance</title><script>fetch("/x?" + Math.random() + "&" + new Date().getFullYear()).then((answer) => answer.text())</script>',
    );
    await use({ page: dir, network: 'fast', protocol: 'h2' });
  },
});

replayed('the chance and the clock of a recorded page', async ({ load, replayPage, replayUrl, lab }) => {
  await load();
  await load();
  await replayPage.goto(replayUrl, { waitUntil: 'networkidle' });
  const { entries } = await lab.log();
  const drawn = entries.map(({ path }) => path).filter((path) => path.startsWith('/x?'));
  // One for each load and visit; a disturbed load is made once more.
  expect(drawn.length).toBeGreaterThanOrEqual(3);
  expect(new Set(drawn).size).toBe(1);
  expect(drawn[0]).toMatch(/^\/x\?0\.\d+&2020$/);
});

replayed("a test's own page stays as it is beside loads", async ({ load, replayPage, replayUrl }) => {
  await replayPage.goto(replayUrl);
  // Three at once take their turns; more browsers than are kept.
  await Promise.all((['h1', 'h3', 'natural'] as const).map((protocol) => load({ protocol })));
  expect(await load({ protocol: { [ORIGIN]: 'h1' } })).toUseProtocol('h1');
  expect(await replayPage.title()).toBe('Chance');
  await replayPage.goto(replayUrl);
  const navigation = await replayPage.evaluate(() => performance.getEntriesByType('navigation')[0]?.toJSON());
  expect(navigation).toMatchObject({ nextHopProtocol: 'h2' });
});
