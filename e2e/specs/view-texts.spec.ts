/** No text of panel, popup, first page and options overlaps another, is cut, too small or hard to read, in both languages: long names and large figures. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Assignment, LANGUAGES, type Language, type Recording } from '@hopwise/contract';
import { predict } from '@hopwise/pageload-emulator';
import { expect, type Page, test } from '@playwright/test';
import type { StoredLoad } from '../../extension/src/storage/loads.ts';
import { CLUSTER } from '../../extension/test/evidence/stored-loads.ts';
import { type ExtensionBrowser, launch } from '../../extension/test/support/browser.ts';
import { listContrastFaults } from '../../extension/test/support/contrast-faults.ts';
import { largePage } from '../../extension/test/support/large-page.ts';
import { makePopupStates, openPopupState } from '../../extension/test/support/popup-states.ts';
import { putLoad, withSummary } from '../../extension/test/support/put-load.ts';
import { listTextFaults } from '../../extension/test/support/text-faults.ts';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import { PANEL_TABS, useFont } from './panel-views.ts';

test.describe.configure({ mode: 'default' });

const softly = expect.configure({ soft: true });
const EXTENSION = fileURLToPath(new URL('../../extension/dist/chromium', import.meta.url));
const WIDTHS = [320, 600, 900, 1200];
/** Widths of pages other than the panel: the popup is never wider than 380 px, and the others no wider than 720 px. */
const NARROW_WIDTHS = [320, 400, 600];
/** The one toolbar's height. */
const TOOLBAR_HEIGHT = 28;
/** High enough that nothing is below the window. */
const HEIGHT = 3000;
const HEIGHT_OF_OPTIONS = 9000;
/** Earlier loads of the page: every second one with pins. */
const EARLIER_LOADS = 6;
const PINNED: Assignment = { 'https://page.test': 'h2', 'https://o1.page.test': 'h2' };
const LOCALE = { en: 'en-US', de: 'de-DE' };
/** Fonts of systems are up to so much wider than the one of the test. */
const WIDER_TEXT = '* { letter-spacing: 0.03em !important; }';

/** A page whose hosts have long names, over a network that limits UDP. */
function longPage(): Recording {
  const recording = largePage(60);
  for (const request of recording.requests) {
    const host = 'a-rather-long-name.of-a-content-delivery-network.example';
    request.url = request.url
      .replace('o3.page.test', host)
      .replace('https://o5.page.test', 'http://o5.page.test');
    request.offersH3 = request.id % 2 === 0;
  }
  return { ...recording, pltMs: 24_600, largestContentfulPaintMs: 4100 };
}

const predictIn = (recording: Recording, language: Language) =>
  predict(recording, {
    waterfall: true,
    language,
    network: { udp: { kind: 'policed', bps: 1.7e6 }, downBps: 18.4e6, rttMs: 348, loss: 0.0123 },
  });

async function expectNoFaults(page: Page, name: string, widths = WIDTHS, height = HEIGHT): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height });
    // Charts are drawn anew when the width has changed.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    // A view fits itself to a new width in the frames after it, which come late on a busy machine.
    await softly.poll(() => page.evaluate(listTextFaults), { message: `${name}, ${width} px` }).toEqual([]);
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await softly
      .poll(() => page.evaluate(listContrastFaults), { message: `${name}, ${colorScheme}` })
      .toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** The list of loads has its columns where they are before the networks, which are estimated one by one, are filled in. */
async function expectSteadyColumns(page: Page): Promise<void> {
  await page.setViewportSize({ width: WIDTHS.at(-1)!, height: HEIGHT });
  const readEdges = () =>
    page
      .locator('.hw-loads thead th')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
  const filled = await readEdges();
  await page.locator('.hw-loads td:nth-child(2)').evaluateAll((all) => {
    for (const each of all) each.textContent = '–';
  });
  softly(await readEdges()).toEqual(filled);
}

/** The load event, which is the last thing of the load, is within the time axis. */
async function expectLoadEvent(page: Page): Promise<void> {
  const [axis, mark] = await Promise.all(
    ['.hw-axis-row', '.hw-axis-row .hw-line-load'].map((each) => page.locator(each).boundingBox()),
  );
  softly(mark!.x + mark!.width).toBeLessThan(axis!.x + axis!.width);
}

/** The legend of an emulated load has the colour of its protocol. The recorded load, which is shown first, is over HTTP/2. */
async function expectShownProtocol(page: Page): Promise<void> {
  const receiving = page.locator('.hw-status-bar .hw-swatch-receiving');
  await softly(receiving).toHaveClass(/hw-swatch-h2/);
  const shown = page.locator('.hw-tools select').first();
  await shown.selectOption('h3');
  await softly(receiving).toHaveClass(/hw-swatch-h3/);
  await shown.selectOption('recorded');
}

for (const language of drawShare(LANGUAGES, 1)) {
  test.describe(language, () => {
    let server: Server;
    let browser: ExtensionBrowser;
    let tabId: number;

    test.beforeAll(async () => {
      server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      browser = await launch(
        EXTENSION,
        [`--lang=${LOCALE[language]}`],
        [],
        { TZ: 'UTC', LANGUAGE: language },
        LOCALE[language],
        false,
      );
      const own = await browser.openOwn('devtools.html');
      const page = await browser.context.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      tabId = await browser.tabIdOf(own, page.url());
      const latest = () => browser.ask(own, { type: 'latest', tabId });
      await expect.poll(latest, { timeout: 60_000 }).toMatchObject({ ok: true, phase: 'recorded' });
      const answer = await latest();
      if (!answer.ok || !answer.load) throw new Error('nothing is recorded');
      const recording = longPage();
      const { id } = answer.load;
      const load: StoredLoad = {
        ...answer.load,
        recording,
        language,
        prediction: predictIn(recording, language),
      };
      await own.evaluate(putLoad, withSummary(load));
      for (let index = 1; index <= EARLIER_LOADS; index++) {
        const pltMs = 20_000 + 900 * index;
        const recordedAt = new Date(Date.parse(recording.recordedAt) - index * 3_600_000).toISOString();
        await own.evaluate(
          putLoad,
          withSummary({
            ...load,
            id: id + index,
            storedAtMs: load.storedAtMs - index,
            network: 'internet' as const,
            // Without a summary of earlier loads: on another network than the load before.
            cluster: index === 3 ? null : CLUSTER,
            pinned: index % 2 === 0 ? PINNED : {},
            recording: { ...recording, pltMs, recordedAt },
          }),
        );
      }
      await own.close();
    });

    test.afterAll(async () => {
      await browser?.close();
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
    });

    test('the popup in every state', async () => {
      // The clock of all pages of this browser stands still from then on: stored loads are not of another day.
      const now = new Date();
      const states = makePopupStates(language, now.getTime() + 3_600_000);
      for (const [name, state] of drawShare(Object.entries(states), 4, ([name]) => `text of ${name}`)) {
        const page = await openPopupState(browser, state, now);
        await useFont(page, WIDER_TEXT);
        await expectNoFaults(page, name, NARROW_WIDTHS);
        const details = page.locator('#details > summary');
        if (await details.isVisible()) {
          await details.click();
          await expectNoFaults(page, `${name} with details`, NARROW_WIDTHS);
        }
        await page.close();
      }
    });

    for (const [path, complete] of [
      ['welcome.html', '.hw-steps:not([hidden])'],
      ['options.html', '.hw-figures dd'],
    ] as const) {
      test(path, async () => {
        const page = await browser.openOwn(path);
        await useFont(page, WIDER_TEXT);
        await page.locator(complete).first().waitFor();
        await expectNoFaults(page, path, NARROW_WIDTHS, HEIGHT_OF_OPTIONS);
        const headings = await page.locator('h1, h2, h3').allTextContents();
        expect(headings, 'each heading once').toEqual([...new Set(headings)]);
        // Without the choices of a list in it.
        const labels = await page
          .locator('label')
          .evaluateAll((all) => all.map((label) => label.firstChild?.nodeValue ?? ''));
        expect(
          labels.filter((label) => headings.includes(label)),
          'no label repeats a heading',
        ).toEqual([]);
        await page.evaluate(() => {
          for (const details of document.querySelectorAll('details')) details.open = true;
        });
        await expectNoFaults(page, `${path}, unfolded`, NARROW_WIDTHS, HEIGHT_OF_OPTIONS);
        await page.close();
      });
    }

    test('the panel', async () => {
      const page = await browser.openOwn(`panel.html?tabId=${tabId}`);
      await page.setViewportSize({ width: 1200, height: HEIGHT });
      await useFont(page, WIDER_TEXT);
      await page.locator('.hw-headline').waitFor();
      const beyond = await page
        .locator('.hw-network')
        .evaluate((list) =>
          [...list.querySelectorAll('dt, dd, .hw-source')]
            .filter((each) => each.scrollWidth > each.clientWidth)
            .map((each) => each.textContent),
        );
      softly(beyond, 'figures of the network beyond their columns').toEqual([]);
      for (const [id, complete] of drawShare(PANEL_TABS, 2, ([id]) => `text of ${id}`)) {
        await page.locator(`#hw-tab-${id}`).click();
        await page.locator(complete).first().waitFor();
        await expectNoFaults(page, id);
        if (id === 'history') {
          await softly(page.locator('.hw-loads tbody tr')).toHaveCount(1 + EARLIER_LOADS);
          await expectSteadyColumns(page);
        }
        if (id === 'waterfall') {
          await expectLoadEvent(page);
          await expectShownProtocol(page);
          await page.locator('.hw-row-name').nth(1).click();
          // All that the first script of the page asks for.
          const led = { en: 'It led to 19 requests', de: 'Führte zu 19 Anfragen' };
          await softly(page.locator('.hw-chain + h4')).toHaveText(led[language]);
          await expectNoFaults(page, 'details of a request');
        }
        if (id === 'graph') {
          await page.locator('.hw-tools button:not([aria-pressed=true])').first().click();
          await page.locator('.hw-node').first().waitFor();
          await expectNoFaults(page, 'the whole graph');
        }
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT });
          const heights = await page
            .locator('header, header > :not(.hw-visually-hidden, #actions)')
            .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
          expect.soft(Math.max(...heights), `toolbar, ${id}, ${width} px`).toBe(TOOLBAR_HEIGHT);
        }
      }
      await page.close();
    });
  });
}
