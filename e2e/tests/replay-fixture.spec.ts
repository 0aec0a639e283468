/** The fixtures for replaying pages, as a test engineer uses them. */
import { type Assignment, expect, PROTOCOLS, test } from '../src/playwright/index.ts';

test.use({ page: 'shop', network: 'lte-poor', protocol: 'h3' });

test('a page, a network and a protocol', async ({ load, page, url, lab }, info) => {
  const loaded = await load();
  expect(loaded).toUseProtocol('h3');
  expect(loaded).toLoadWithin(60_000);
  expect(loaded).not.toLoadWithin(500);
  expect(loaded.requests.length).toBeGreaterThan(70);
  expect(loaded.failed).toEqual([]);
  expect(loaded.recording.pltMs).toBe(loaded.pltMs);

  // Playwright's own page is on the same network, under the same protocol.
  const before = (await lab.stats()).down.deliveredBytes;
  await page.goto(url);
  await expect(page).toHaveTitle(/\w/);
  expect((await lab.stats()).down.deliveredBytes - before).toBeGreaterThan(500_000);
  const { entries } = await lab.log();
  expect(new Set(entries.map(({ protocol }) => protocol))).toEqual(new Set(['h3']));

  expect(info.annotations.map(({ description }) => description)).toContainEqual(
    expect.stringMatching(/^shop, lte-poor, h3: PLT \d+ ms, .*\(84 h3\)/),
  );
  expect(info.attachments.map(({ name }) => name)).toContain('recording 1: shop, lte-poor, h3');
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

test.describe('over IPv6', () => {
  test.use({ ipVersion: 6, network: 'cable' });

  test('the page loads', async ({ load, page, url }) => {
    expect(await load()).toUseProtocol('h3');
    const response = await page.goto(url);
    expect((await response?.serverAddr())?.ipAddress).toContain(':');
  });
});

test.describe('in a group, with figures of its own', () => {
  test.use({ network: { profile: 'cable', udp: { policedMbps: 2 } }, protocol: 'natural' });

  test('the fastest protocol is the one that hopwise names', async ({ load, prediction }) => {
    const loads = {};
    for (const protocol of PROTOCOLS) Object.assign(loads, { [protocol]: await load({ protocol }) });
    expect(prediction).toChooseFastest(loads, { margin: 0.25 });
    expect(prediction.best).not.toBe('h3');
  });
});
