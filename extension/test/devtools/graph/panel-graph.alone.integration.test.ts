/** The panel's Graph in Chromium, on a page of 300 requests. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionBrowser, launch } from '../../support/browser.ts';
import { largePage } from '../../support/large-page.ts';
import { openWithLoad } from '../../support/open-with-load.ts';
import { type Site, startSite } from '../../support/site.ts';

const REQUESTS = 300;

let site: Site;
let browser: ExtensionBrowser;
let panel: Page;
const errors: string[] = [];

beforeAll(async () => {
  site = await startSite();
  browser = await launch(fileURLToPath(new URL('../../../dist/chromium', import.meta.url)));
  panel = await openWithLoad(browser, `${site.url}/slow.html`, largePage(REQUESTS), 'panel.html');
  panel.on('pageerror', (error) => errors.push(error.message));
  panel.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await panel.getByRole('tab', { name: 'Graph' }).click();
  await panel.locator('.hw-critical-step').first().waitFor({ timeout: 60_000 });
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const nodes = () => panel.locator('.hw-node');
const details = () => panel.getByRole('complementary', { name: 'Details of the request' });
const focusedTitle = () => panel.evaluate(() => (document.activeElement as HTMLElement).title);
const transform = () =>
  panel.locator('.hw-graph-canvas').evaluate((element) => (element as HTMLElement).style.transform);

test('begins with the critical path, each step with how long the page waits and why', async () => {
  const steps = panel.locator('.hw-critical-step');
  expect(await steps.count()).toBeGreaterThan(1);
  expect(await steps.first().textContent()).toMatch(
    /waits.\d.*m?s.*(connecting|round trips|transferring|thinking)/,
  );
  await panel.getByText(/One emulated load .*takes .* It waits longest for /).waitFor();
  expect(await nodes().count()).toBe(0);
  await steps.last().locator('.hw-step-causes').click();
  await details().getByText('Times in the recording').waitFor();
  await details().getByRole('button', { name: 'Close' }).click();
  await panel.getByRole('button', { name: 'All requests' }).click();
  await nodes().first().waitFor({ timeout: 60_000 });
});

test('finds nodes by their URL, and moves by the minimap', async () => {
  await panel.getByRole('searchbox').fill('o3.page.test');
  await expect.poll(() => panel.locator('.hw-found').count()).toBeGreaterThan(0);
  await panel.getByRole('searchbox').press('Enter');
  expect(await panel.evaluate(() => document.activeElement?.matches('.hw-found'))).toBe(true);
  await panel.getByRole('searchbox').fill('');
  expect(await panel.locator('.hw-found').count()).toBe(0);
  // All of the graph is in sight otherwise.
  const size = panel.viewportSize()!;
  await panel.setViewportSize({ width: 600, height: 500 });
  for (let press = 0; press < 3; press++) await panel.getByRole('button', { name: 'Zoom in' }).click();
  await panel.locator('.hw-minimap').waitFor();
  const before = await transform();
  const map = (await panel.locator('.hw-minimap').boundingBox())!;
  await panel.mouse.click(map.x + map.width / 2, map.y + map.height - 4);
  expect(await transform()).not.toBe(before);
  await panel.setViewportSize(size);
});

test('shows the minimap where not all is in sight, and away from nodes', async () => {
  const size = panel.viewportSize()!;
  const map = panel.locator('.hw-minimap');
  await panel.setViewportSize({ width: 600, height: 500 });
  await panel.getByRole('button', { name: 'All of the graph' }).click();
  const { x, y, width, height } = (await map.boundingBox())!;
  const covered = await nodes().evaluateAll(
    (all, box) =>
      all.filter((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return left < box.x + box.width && right > box.x && top < box.y + box.height && bottom > box.y;
      }).length,
    { x, y, width, height },
  );
  expect(covered).toBe(0);
  await panel.setViewportSize({ width: 1600, height: 4000 });
  await panel.getByRole('button', { name: 'All of the graph' }).click();
  await map.waitFor({ state: 'hidden' });
  await panel.setViewportSize(size);
  await panel.getByRole('button', { name: 'All of the graph' }).click();
});

test('groups similar requests, marks the critical path, and shows all requests on demand', async () => {
  expect(await nodes().count()).toBeLessThan(80);
  expect(await panel.locator('.hw-critical-node').count()).toBeGreaterThan(1);
  expect(await panel.locator('.hw-critical-edge').count()).toBeGreaterThan(0);
  await panel.getByRole('checkbox', { name: 'Group similar requests' }).uncheck();
  await expect.poll(() => nodes().count(), { timeout: 60_000 }).toBe(REQUESTS);
});

test('opens the details that the waterfall has, by the keyboard alone', async () => {
  await nodes().first().focus();
  expect(await focusedTitle()).toMatch(/slow\.html|page\.test\/$/);
  await panel.keyboard.press('ArrowRight');
  expect(await focusedTitle()).toMatch(/page\.test\/\d+\.(js|png)$/);
  const frame = (await panel.locator('.hw-graph').boundingBox())!;
  const node = (await panel.locator('.hw-node:focus').boundingBox())!;
  expect(node.x).toBeGreaterThanOrEqual(frame.x);
  expect(node.y + node.height).toBeLessThanOrEqual(frame.y + frame.height);
  const title = await focusedTitle();
  await panel.keyboard.press('Enter');
  await details().getByText('Times in the recording').waitFor();
  expect(await details().textContent()).toContain(title);
  await details().getByRole('button', { name: 'Close' }).press('Enter');
  expect(await focusedTitle()).toBe(title);
});

test('zooms by buttons and by the wheel with Ctrl, moves by dragging', async () => {
  await panel.getByRole('button', { name: 'All of the graph' }).click();
  const before = await transform();
  await panel.getByRole('button', { name: 'Zoom in' }).click();
  const zoomed = await transform();
  expect(zoomed).not.toBe(before);
  const { x, y, width, height } = (await panel.locator('.hw-graph').boundingBox())!;
  await panel.mouse.move(x + width - 10, y + height - 10);
  await panel.mouse.down();
  await panel.mouse.move(x + width - 60, y + height - 40);
  await panel.mouse.up();
  const moved = await transform();
  expect(moved).not.toBe(zoomed);
  await panel.keyboard.down('Control');
  await panel.mouse.wheel(0, 200);
  await panel.keyboard.up('Control');
  await expect.poll(transform).not.toBe(moved);
});

test('300 nodes are zoomed within 50 ms a frame', async () => {
  const medianMs = await panel.evaluate(async () => {
    const zoomIn = document.querySelector<HTMLElement>('[aria-label="Zoom in"]')!;
    const zoomOut = document.querySelector<HTMLElement>('[aria-label="Zoom out"]')!;
    const frames: number[] = [];
    let last = performance.now();
    for (let step = 0; step < 40; step++) {
      (step % 2 === 0 ? zoomIn : zoomOut).click();
      await new Promise(requestAnimationFrame);
      frames.push(performance.now() - last);
      last = performance.now();
    }
    return frames.sort((a, b) => a - b)[Math.floor(frames.length / 2)]!;
  });
  console.log(`median frame while zooming: ${medianMs.toFixed(1)} ms`);
  expect(medianMs).toBeLessThan(50);
});

test('another protocol has its own critical path', async () => {
  await panel.getByRole('combobox', { name: 'Critical path over' }).selectOption('h1');
  await panel.getByText(/on the critical path over HTTP\/1\.1/).waitFor();
});

test('no view has thrown or logged an error', () => {
  expect(errors).toEqual([]);
});
