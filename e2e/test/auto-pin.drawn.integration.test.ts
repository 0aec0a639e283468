/**
 * Pins of the kind `auto` in real Chromium with the real helper, on a link that begins to police UDP while requests flow: the servers'
 * log shows which protocol each of them used.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Protocol } from '@hopwise/contract';
import type { LabLog } from '@hopwise/lab/client/lab';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { EXTENSION_DIR } from '@hopwise/lab/paths';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PinRequests } from '../../extension/test/pins/pin-requests.ts';
import { allowPins } from '../../extension/test/pins/pinning-chromium.ts';
import { BrowserOnLink } from './browser-on-link.ts';

/** What the link takes for a request outweighs what a busy machine adds, which differs between the protocols. */
const OPEN = { ...networkOf(profileNamed('cable')), rttMs: 100, downMbps: 10 };
const POLICED_MBPS = 0.5;
const POLICED = { ...OPEN, udp: { policedMbps: POLICED_MBPS } };
/** The least time between two reports of the helper. */
const PERIOD_S = 2;
/** A few requests at a time, with pauses: some thirty a second, as many as a report has room for. */
const PARALLEL = 4;
const PAUSE_MS = 80;
/** A rollback by chance, on a busy machine, is followed by another try half a minute later. */
const LIMIT = { timeout: 50_000, interval: 100 };
/** Those of more than a period. */
const MORE_REQUESTS = 80;

let folder: string;
let extension: string;
let link: BrowserOnLink;
let tab: Page;
let pins: PinRequests;
/** What the page requests. */
let path: string;
let answers: LabLog['entries'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-test-'));
  extension = join(folder, 'extension');
  await cp(EXTENSION_DIR, extension, { recursive: true });
  link = await BrowserOnLink.open('shop', OPEN, { hasLocalCa: true, extension });
  await allowPins(link.own);
  tab = await link.newTab();
  await tab.goto(link.site.entry);
  // Some 12 kB: large enough for the policer to hold it up.
  path = link.site.resources.find((each) => each.path.endsWith('.css'))!.path;
  pins = new PinRequests((message) => link.browser.ask(link.own, message), new URL(link.site.entry).origin);
  await link.listAnswers();
  answers = [];
});

afterAll(async () => {
  await link?.close();
  await rm(folder, { recursive: true, force: true });
});

async function pinAuto(): Promise<void> {
  expect(await pins.pin('auto')).toMatchObject({ ok: true });
  await vi.waitFor(
    async () => expect(await pins.all()).toMatchObject([{ state: 'active', reason: '' }]),
    LIMIT,
  );
}

/** Requests from the page, a few at a time, until they are to stop. */
function startRequests(): { stop(): Promise<{ answered: number; failures: string[] }> } {
  const ended = tab.evaluate(
    async ({ url, parallel, pauseMs }) => {
      let answered = 0;
      const failures: string[] = [];
      const repeat = async (): Promise<void> => {
        while (document.body.dataset.stops === undefined) {
          try {
            const response = await fetch(url, { cache: 'no-store' });
            await response.arrayBuffer();
            if (response.ok) answered++;
            else failures.push(String(response.status));
          } catch (error) {
            failures.push(String(error));
          }
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        document.body.dataset.stops = '';
      };
      await Promise.all(Array.from({ length: parallel }, repeat));
      delete document.body.dataset.stops;
      return { answered, failures };
    },
    { url: path, parallel: PARALLEL, pauseMs: PAUSE_MS },
  );
  // Where the test fails before it stops them, the page is closed amid them.
  ended.catch(() => undefined);
  return {
    async stop() {
      await tab.evaluate(() => {
        document.body.dataset.stops = '';
      });
      return ended;
    },
  };
}

/** The answered requests that began after a time, oldest first. */
async function listAnswers(afterMs = 0): Promise<LabLog['entries']> {
  answers.push(...(await link.listAnswers()).filter((each) => each.path === path));
  return answers.filter(({ startMs }) => startMs > afterMs).toSorted((a, b) => a.startMs - b.startMs);
}

const listOver = async (protocol: Protocol, afterMs = 0) =>
  (await listAnswers(afterMs)).filter((each) => each.protocol === protocol);

test('requests go over HTTP/3 until UDP is policed in mid-session, and over HTTP/2 within two periods; none is lost', async () => {
  await pinAuto();
  const requests = startRequests();
  await vi.waitFor(async () => {
    const all = await listAnswers();
    const steady = all.slice(all.findLastIndex(({ protocol }) => protocol !== 'h3') + 1);
    // By then a report on them has been judged.
    expect((steady.at(-1)?.startMs ?? 0) - (steady[0]?.startMs ?? 0)).toBeGreaterThan(3000 * PERIOD_S);
  }, LIMIT);

  await link.change(POLICED);
  const changedMs = Date.now();
  const [first] = await vi.waitFor(async () => {
    const back = await listOver('h2', changedMs);
    expect(back.length).toBeGreaterThan(0);
    return back;
  }, LIMIT);
  const since = await listOver('h3', changedMs);
  const { answered, failures } = await requests.stop();
  console.log(
    `${answered} requests; over HTTP/2 ${Math.round(first!.startMs - changedMs)} ms after the change, with ${since.length} over HTTP/3 since`,
  );
  expect(failures).toEqual([]);
  expect((await listAnswers()).length).toBeGreaterThanOrEqual(answered);
  // Counted in requests, as a busy machine is slower than the link: no more than the policer lets through in two periods.
  const bytes = (POLICED_MBPS / 8) * 1e6 * 2 * PERIOD_S;
  expect(since.length).toBeLessThanOrEqual(bytes / first!.bytes + PARALLEL);
});

test('nothing of the trees is loaded before they are asked, and nothing is left without such a pin', async () => {
  const countDocuments = () =>
    link.own.evaluate(
      async () => (await chrome.runtime.getContexts({ contextTypes: ['OFFSCREEN_DOCUMENT'] })).length,
    );
  await pins.unpin();
  await link.change(OPEN);
  // The packaged trees, with a say over both transports.
  const file = join(extension, 'transport.json');
  const description = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...description, uses: { tcp: 'trees', quic: 'trees' } }));
  await link.browser.stopWorker(link.own);

  await pinAuto();
  expect(await countDocuments()).toBe(0);
  const requests = startRequests();
  await vi.waitFor(async () => expect(await countDocuments()).toBe(1), LIMIT);
  const begun = (await listAnswers()).length;
  await vi.waitFor(
    async () => expect((await listAnswers()).length).toBeGreaterThan(begun + MORE_REQUESTS),
    LIMIT,
  );
  // Trees that do not answer are ended.
  expect(await countDocuments()).toBe(1);
  expect((await requests.stop()).failures).toEqual([]);
  await pins.unpin();
  await vi.waitFor(async () => expect(await countDocuments()).toBe(0), LIMIT);
});
