import { type Decision, EVERY_ORIGIN } from '@hopwise/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startBestRun } from '../../../src/autopilot/choosing/start-best-run.ts';
import type { AutopilotRun } from '../../../src/autopilot/runs/autopilot-run.ts';
import { Runs } from '../../../src/autopilot/runs/runs.ts';
import {
  AUTOPILOT_DEFAULTS,
  type AutopilotSettings,
} from '../../../src/autopilot/settings/autopilot-settings.ts';
import type { StoredLoad } from '../../../src/storage/loads.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';
import { ORIGIN, runOf } from '../../support/autopilot-runs.ts';
import { actionOf, decisionOf, LEAVE } from '../../support/decisions.ts';
import { knownWithUdp, saveKnownNetwork } from '../../support/known-network.ts';
import { PinsInMemory } from '../../support/pins-in-memory.ts';
import { StubbedStorage } from '../../support/stubbed-storage.ts';
import '../../support/own-database.ts';

const OVER_H3 = [0, 1, 2, 3].map((id) => requestOf(id, { protocol: 'h3' }));
const POLICED = knownWithUdp({ policed: 0.96, open: 0.04 }).cluster;
const AVOID = actionOf('avoid-h3', { [ORIGIN]: 'h2' });
const FORCE_H1 = actionOf('force-protocol', { [ORIGIN]: 'h1' });
const RULE = { site: 'page.test', rule: 'h2' } as const;

let pins: PinsInMemory;
let decision: Decision;
let predictions: number;

beforeEach(() => {
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => 'en-GB' },
    storage: { session: new StubbedStorage() },
  });
  pins = new PinsInMemory();
  decision = decisionOf([AVOID]);
  predictions = 0;
});

afterEach(() => vi.unstubAllGlobals());

const predict = async (load: StoredLoad) => {
  predictions++;
  return { ...load, prediction: { decision } } as StoredLoad;
};

/** What is pinned after a load of the page over HTTP/3, and how many predictions that took. */
async function startAfter(
  more: Partial<AutopilotSettings> = {},
  { load = {}, earlier = [] }: { load?: Parameters<typeof loadOf>[1]; earlier?: AutopilotRun[] } = {},
): Promise<[string[], number]> {
  const recording = { requests: OVER_H3, ...load.recording };
  const settings = { ...AUTOPILOT_DEFAULTS, isOn: true, ...more };
  predictions = 0;
  pins.pins = [];
  await startBestRun(new Runs(pins, earlier), loadOf(9, { ...load, recording }), [], settings, predict);
  return [pins.active, predictions];
}

test('a rule for the site comes first, without a prediction', async () => {
  await saveKnownNetwork(POLICED);
  expect(await startAfter({ siteRules: [RULE] })).toEqual([[`h2 ${ORIGIN}`], 0]);
});

test('then one for the traffic', async () => {
  await saveKnownNetwork(POLICED);
  const trafficRules = [{ traffic: 'page', network: 'udp-hindered', rule: 'h1' }] as const;
  expect(await startAfter({ trafficRules: [...trafficRules] }, { load: { cluster: POLICED } })).toEqual([
    [`h1 ${ORIGIN}`],
    0,
  ]);
});

test('then the network, with which a prediction is made only where a protocol may be forced', async () => {
  await saveKnownNetwork(POLICED);
  const every = `avoid-h3 ${EVERY_ORIGIN}`;
  decision = decisionOf([FORCE_H1]);
  expect(await startAfter()).toEqual([[every], 0]);
  expect(await startAfter({ holdsProtocols: true })).toEqual([[every, `h1 ${ORIGIN}`], 1]);
});

test('then what a prediction promises', async () => {
  expect(await startAfter()).toEqual([[`avoid-h3 ${ORIGIN}`], 1]);
  decision = decisionOf([LEAVE]);
  expect(await startAfter()).toEqual([[], 1]);
});

test('what a prediction has pinned includes third parties that may offer HTTP/3 as well', async () => {
  const startWith = (offersH3: boolean | null) => {
    const thirdParty = requestOf(4, { url: 'https://cdn.test/4', offersH3 });
    return startAfter({}, { load: { recording: { requests: [...OVER_H3, thirdParty] } } });
  };
  expect(await startWith(null)).toEqual([[`avoid-h3 ${ORIGIN}`, 'avoid-h3 https://cdn.test'], 1]);
  expect(await startWith(false)).toEqual([[`avoid-h3 ${ORIGIN}`], 1]);
});

test.each([
  ['one that is still to show what it gains', { state: 'checking' }],
  ['one that spares an origin', { state: 'kept', spared: { origin: ORIGIN, loads: 1 } }],
  [
    'one that made way for a load without pins',
    { state: 'ended', end: { atMs: 0, cause: 'unsure', reason: '' }, lastLoadId: 9 },
  ],
] as const)('no prediction is made for a page with a run: %s', async (_which, more) => {
  const run = (pageUrl: string) =>
    runOf({ ...more, pageUrl, pins: [{ origin: 'https://x.test', kind: 'avoid-h3' }] });
  expect(await startAfter({}, { earlier: [run(`${ORIGIN}/`)] })).toEqual([[], 0]);
  expect(await startAfter({}, { earlier: [run(`${ORIGIN}/other`)] }), 'another page').toEqual([
    [`avoid-h3 ${ORIGIN}`],
    1,
  ]);
});

test('a page that a rule leaves as it is, or that may be a login page, is not predicted', async () => {
  expect(await startAfter({ siteRules: [{ ...RULE, rule: 'leave' }] })).toEqual([[], 0]);
  expect(await startAfter({ siteRules: [RULE] }, { load: { requestedUrl: 'https://asked.test/' } })).toEqual([
    [],
    0,
  ]);
});
