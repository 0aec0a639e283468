import { EVERY_ORIGIN } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { EmulatedBrowser } from '../../src/loop/emulated/emulated-browser.ts';
import { judgePinUses } from '../../src/loop/emulated/judge-pin-uses.ts';
import { parseOptions } from '../../src/loop/emulated/options.ts';
import { runEmulated } from '../../src/loop/emulated/run-emulated.ts';
import { judgeLoop } from '../../src/loop/judge-loop.ts';
import { judgeRuns } from '../../src/loop/judge-runs.ts';

const PLAN = {
  split: 'train',
  seed: 2,
  pages: 1,
  loads: 6,
  networks: ['udp-policed'],
  explores: false,
} as const;
const reporting = { signal: new AbortController().signal, report: () => undefined };
const ORIGINS = ['https://a.test', 'https://b.test'];
const OFFERING = new Set(['https://a.test']);

let planned: ReturnType<typeof runEmulated> | undefined;
/** Visits by the plan, made once. */
const visitPlan = () => (planned ??= runEmulated(PLAN, reporting));

test('where UDP is policed, the autopilot keeps HTTP/3 off and loads take what they take over HTTP/2', async () => {
  const visits = await visitPlan();
  expect(visits.filter(({ arm }) => arm === 'off').map(({ visit }) => visit)).toEqual([1, 2, 3, 4, 5, 6]);
  const timeOf = (arm: string, visit: number) =>
    visits.find((each) => each.arm === arm && each.visit === visit)!.pltMs;
  // First visits are over TCP, with pins or without.
  expect(timeOf('off', 1)).toBeCloseTo(timeOf('auto', 1), 6);
  expect(timeOf('off', 6)).toBeCloseTo(timeOf('h3', 6), 6);
  expect(timeOf('auto', 6)).toBeCloseTo(timeOf('h2', 6), 6);
  expect(timeOf('auto', 6)).toBeLessThan(timeOf('off', 6));
  const [figures] = judgeLoop('auto', visits);
  expect(figures!.againstOff.estimate).toBeLessThan(1);
  expect(judgeRuns('auto', visits)).toMatchObject([{ network: 'udp-policed', end: null }]);
  expect(judgePinUses(visits).find(({ pinUse }) => pinUse === 'pins')!.cost).toBeLessThan(0);
});

test('the same plan gives the same visits, however many follow', async () => {
  const timesOf = (visits: Awaited<ReturnType<typeof runEmulated>>) =>
    visits.filter(({ visit }) => visit <= 3).map(({ arm, pltMs, pinUse }) => [arm, pltMs, pinUse]);
  const ofLonger = timesOf(await visitPlan());
  expect(timesOf(await runEmulated({ ...PLAN, loads: 3 }, reporting))).toEqual(ofLonger);
});

test('a browser uses HTTP/3 once a load has shown it, and begins anew after a pin', async () => {
  const browser = new EmulatedBrowser();
  expect(browser.assign(ORIGINS)).toEqual({ 'https://a.test': 'h2', 'https://b.test': 'h2' });
  browser.noteLoad(ORIGINS, OFFERING);
  expect(browser.assign(ORIGINS)).toEqual({ 'https://a.test': 'h3', 'https://b.test': 'h2' });
  const pins = [{ origin: 'https://a.test', kind: 'avoid-h3' }] as const;
  await browser.pin(pins, { minutes: 60, persistent: false });
  expect(browser.assign(ORIGINS)).toEqual({ 'https://a.test': 'h2', 'https://b.test': 'h2' });
  await browser.unpinMade(pins);
  expect(browser.assign(ORIGINS)['https://a.test']).toBe('h2');
  browser.noteLoad(ORIGINS, OFFERING);
  expect(browser.assign(ORIGINS)['https://a.test']).toBe('h3');
});

test('after a trial a browser takes HTTP/3 for broken at the servers that had it', async () => {
  const browser = new EmulatedBrowser();
  browser.noteLoad(['https://a.test', 'https://c.test'], new Set(['https://a.test', 'https://c.test']));
  const pins = [{ origin: 'https://a.test', kind: 'avoid-h3' }] as const;
  await browser.pin(pins, { minutes: 60, persistent: false });
  browser.noteLoad(['https://a.test'], OFFERING);
  await browser.unpinMade(pins, { keepsAlternatives: true });
  expect(browser.assign(['https://a.test', 'https://c.test'])).toEqual({
    'https://a.test': 'h2',
    'https://c.test': 'h3',
  });
});

test('an unknown network is refused before anything is loaded', () => {
  expect(() => parseOptions(['--networks', 'cable>nowhere'])).toThrow('--networks');
  expect(parseOptions(['--networks', 'cable>lossy,lte']).networks).toEqual(['cable>lossy', 'lte']);
});

test('where every origin is pinned, a site that is left to the browser begins anew', async () => {
  const browser = new EmulatedBrowser();
  browser.noteLoad(ORIGINS, OFFERING);
  await browser.pin([{ origin: EVERY_ORIGIN, kind: 'avoid-h3' }], { minutes: 60, persistent: false });
  await browser.leaveSites(['a.test']);
  expect(browser.assign(ORIGINS)).toEqual({ 'https://a.test': 'h2', 'https://b.test': 'h2' });
  browser.noteLoad(ORIGINS, OFFERING);
  expect(browser.assign(ORIGINS)).toEqual({ 'https://a.test': 'h3', 'https://b.test': 'h2' });
  await browser.leaveSites([]);
  expect(browser.assign(ORIGINS)).toEqual({ 'https://a.test': 'h2', 'https://b.test': 'h2' });
});

test('pins that keep HTTP/3 off end where UDP is policed no longer, of which the browser gets no notice', async () => {
  const plan = { ...PLAN, seed: 1, loads: 40, networks: ['udp-policed>lossy'] };
  const visits = (await runEmulated(plan, reporting)).filter(({ arm }) => arm === 'auto');
  const pinned = visits.filter(({ pinUse }) => pinUse === 'pins').map(({ visit }) => visit);
  expect(pinned.filter((visit) => visit <= 20).length).toBeGreaterThan(12);
  expect(Math.max(...pinned)).toBeLessThan(36);
});
