/**
 * The autopilot in real Chromium with the real helper, on a link that polices UDP: exploring, with a trial that loses and one that
 * is undone, then a natural load over HTTP/3 and no click.
 */
import type { StoredLoad } from '@hopwise/extension/messages';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowPins } from '../../extension/test/pins/pinning-chromium.ts';
import { BrowserOnLink } from './browser-on-link.ts';

/** Loads without pins until the prediction rates keeping off HTTP/3. */
const MAX_LOADS = 5;
/** Under the autopilot, until the decision is sure. */
const MAX_SLOW_LOADS = 5;
/** Below the 2 to 5% of loads that may explore, so that each of them does while exploring has cost little enough. */
const DRAWN = 0.01;

const POLICED = networkOf(profileNamed('udp-policed'));
/** Slower over TCP than the policed link over UDP. */
const SLOW = { ...POLICED, downMbps: 1, upMbps: 1 };

let link: BrowserOnLink;
let tab: Page;
let options: Page;

beforeAll(async () => {
  // With the servers' addresses, which show that they are local: a slower link is then not taken for another network.
  link = await BrowserOnLink.open('shop', POLICED, { recordsInDetail: true });
  await allowPins(link.own);
  await link.allowPinsToServers();
  tab = await link.newTab();
  options = await link.browser.openOwn('options.html');
});

afterAll(() => link?.close());

/** Fixes what the worker draws. The open options page keeps the worker alive. */
async function fixDraws(): Promise<void> {
  const [worker] = link.browser.context.serviceWorkers();
  await worker!.evaluate((drawn) => {
    Math.random = () => drawn;
  }, DRAWN);
}

const usesH3 = ({ recording }: StoredLoad) => recording.requests.some(({ protocol }) => protocol === 'h3');

/** Newest first, once what the recorded loads lead to is done, however long that takes. */
async function listTrials() {
  const answer = await link.browser.ask(link.own, { type: 'autopilot' });
  if (!answer.ok) throw new Error(answer.error);
  expect(answer.runs.filter(({ trigger }) => trigger !== 'trial')).toEqual([]);
  return answer.runs;
}

async function listPins(): Promise<string[]> {
  const answer = await link.browser.ask(link.own, { type: 'pins' });
  if (!answer.ok) throw new Error(answer.error);
  return answer.pins.map(({ kind, state }) => `${kind} ${state}`);
}

/** Load times by arm, over the page's usual one, as the explorer stored them. */
async function readLearned(): Promise<Record<string, number[]>> {
  const stored = await link.own.evaluate(() => chrome.storage.session.get('autopilot-explorer'));
  const { clusters } = stored['autopilot-explorer'] as {
    clusters: Record<string, { arms: Record<string, { relative: number }[]> }>;
  };
  const page = Object.keys(clusters).find((key) => key.includes(link.site.entry))!;
  return Object.fromEntries(
    Object.entries(clusters[page]!.arms).map(([arm, loads]) => [arm, loads.map(({ relative }) => relative)]),
  );
}

/** Loads the page without pins until the browser uses HTTP/3 from the first request on, as it does some minutes after a pin. */
async function loadUntilKnown(): Promise<void> {
  await link.forgetAlternatives(tab);
  await link.loadOverH3(tab);
}

/** What there is to know of a load that did not lead to what it was made for. */
function describeLoad({ id, recording, prediction, problem, pinned }: StoredLoad): string {
  const protocols = recording.requests
    .map(({ url, protocol }) => `${new URL(url).host} ${protocol}`)
    .join(', ');
  const verdict = prediction?.decision.verdict ?? problem;
  return `load ${id}: ${recording.pltMs} ms, pinned ${JSON.stringify(pinned)}, ${protocols}: ${verdict}`;
}

/** Loads the page without pins until a trial is planned. @returns these loads */
async function loadUntilTrial(): Promise<StoredLoad[]> {
  const { length } = await listTrials();
  const findTrial = async () => {
    const trials = await listTrials();
    return trials.length > length ? trials[0] : undefined;
  };
  const loads: StoredLoad[] = [];
  let trial = await findTrial();
  while (trial === undefined && loads.length < MAX_LOADS) {
    loads.push(await link.loadCold(tab));
    trial = await findTrial();
  }
  expect(trial, loads.map(describeLoad).join('\n')).toMatchObject({ state: 'checking', end: null });
  await expect.poll(listPins).toEqual(trial!.pins.map(() => 'avoid-h3 active'));
  // Chromium may give a single load to HTTP/2, where its HTTP/3 connection comes late.
  expect(loads.some(usesH3), loads.map(describeLoad).join('\n')).toBe(true);
  return loads;
}

test('a trial has one load and is not repeated when it lost time; undoing ends a trial', async () => {
  // A first visit shows nothing of later ones; but much of a slow one may go over HTTP/3, and it is then taken for one of these.
  await link.loadCold(tab);
  await options.getByLabel('Let hopwise make pages faster by itself').check();
  await options.getByLabel('Also try the next best choice now and then').check();
  await options.getByLabel('Trials compare load times by').selectOption('p90');
  // No gain is large enough for the prediction to act by itself.
  await link.browser.ask(link.own, { type: 'change-autopilot', change: { minGain: 0.9 } });
  await fixDraws();

  const untouched = await loadUntilTrial();
  const scaleMs = untouched[0]!.recording.pltMs!;
  link.network = SLOW;
  const lost = await link.loadCold(tab);
  expect(usesH3(lost), describeLoad(lost)).toBe(false);
  expect(lost.recording.pltMs).toBeGreaterThan(1.1 * scaleMs);
  expect(await listTrials()).toMatchObject([{ end: { cause: 'tried' }, afterMs: [lost.recording.pltMs] }]);
  const { leave, 'avoid-h3 h2': avoided } = await readLearned();
  expect(avoided).toEqual([expect.any(Number)]);
  const left = untouched.at(-1)!.recording.pltMs!;
  expect(avoided![0]! / leave!.at(-1)!).toBeCloseTo(lost.recording.pltMs! / left, 6);
  expect(await listPins()).toEqual([]);
  await options.getByText('Its load was measured, and the pins were removed.').waitFor();

  link.network = POLICED;
  await loadUntilKnown();
  expect(await listTrials()).toHaveLength(1);
  // Nothing is learned from a load much of which the browser gave to HTTP/2, where its HTTP/3 connections came late.
  const natural: StoredLoad[] = [];
  const countLeft = async () => (await readLearned()).leave!.length;
  while ((await countLeft()) === leave!.length && natural.length < MAX_LOADS) {
    natural.push(await link.loadCold(tab));
    expect(await listTrials()).toHaveLength(1);
  }
  expect(await countLeft(), natural.map(describeLoad).join('\n')).toBeGreaterThan(leave!.length);

  // What was lost is forgotten, so the choice may be tried again.
  await options.getByText(/^Without HTTP\/3: .* \(1 load\)$/).waitFor();
  await options.getByRole('button', { name: 'Erase what was learned: Pages in your own network' }).click();
  await options.getByText('Nothing has been learned yet.').waitFor();
  // The lost load itself is evidence against the choice, for every prediction.
  await link.browser.ask(link.own, { type: 'erase-all' });
  await loadUntilTrial();
  await options.getByRole('button', { name: 'Undo all' }).click();
  await expect.poll(listPins).toEqual([]);
  expect((await listTrials()).map(({ end }) => end?.cause)).toEqual(['you']);
});

/** The same of the newest run of any kind. */
async function lastRun() {
  const answer = await link.browser.ask(link.own, { type: 'autopilot' });
  if (!answer.ok) throw new Error(answer.error);
  return answer.runs[0];
}

test('after a load over HTTP/3 it keeps the page off it, measures the gain, and lifts its pins in trouble', async () => {
  // Nothing is left of the loads before.
  await link.browser.ask(link.own, {
    type: 'change-autopilot',
    change: { isOn: false, explores: false, minGain: 0.1 },
  });
  await loadUntilKnown();
  await link.browser.ask(link.own, { type: 'erase-all' });
  const untouched = await link.loadCold(tab);
  expect(usesH3(untouched), describeLoad(untouched)).toBe(true);
  expect(await lastRun()).toBeUndefined();

  await options.getByLabel('Let hopwise make pages faster by itself').check();
  const slow = [untouched];
  const verdicts: string[] = [];
  while ((await lastRun()) === undefined && slow.length <= MAX_SLOW_LOADS) {
    const load = await link.loadCold(tab);
    slow.push(load);
    verdicts.push(load.prediction?.decision.verdict ?? load.problem);
  }
  const run = (await lastRun())!;
  expect(run, verdicts.join('; ')).toMatchObject({ trigger: 'decision', state: 'checking', end: null });
  await expect.poll(listPins).toEqual(run.pins.map(() => 'avoid-h3 active'));
  expect(run.beforeMs).toEqual(slow.map(({ recording }) => recording.pltMs));
  expect(run.predicted!.beforeMs - run.predicted!.afterMs).toBeGreaterThan(0.1 * run.predicted!.beforeMs);

  const slowMs = Math.min(...run.beforeMs);
  const pinnedMs: number[] = [];
  // Other work on the machine may slow a load down.
  while (pinnedMs.length < MAX_SLOW_LOADS && !(Math.min(...pinnedMs) < slowMs)) {
    const load = await link.loadCold(tab);
    expect(usesH3(load), describeLoad(load)).toBe(false);
    pinnedMs.push(load.recording.pltMs!);
    expect(await lastRun(), describeLoad(load)).toMatchObject({ afterMs: pinnedMs, state: 'checking' });
  }
  expect(Math.min(...pinnedMs)).toBeLessThan(slowMs);
  await options.getByText(/Measured: .*→.* over \d loads before and \d after/).waitFor();

  await link.own.evaluate(() => chrome.permissions.remove({ permissions: ['browsingData'] }));
  await options.getByText('The permissions that pins need were revoked.').waitFor();
  expect(await lastRun()).toMatchObject({ state: 'ended', end: { cause: 'trouble' } });
  expect(await listPins()).toEqual(run.pins.map(() => 'avoid-h3 lifted'));
});
