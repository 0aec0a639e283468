import { EVERY_ORIGIN } from '@hopwise/contract';
import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AutopilotRun } from '../../../src/autopilot/runs/autopilot-run.ts';
import { recheckUdp } from '../../../src/autopilot/runs/recheck-udp.ts';
import { Runs } from '../../../src/autopilot/runs/runs.ts';
import { HELD_LOADS, SPARED_LOADS } from '../../../src/autopilot/runs/spared-origin.ts';
import {
  AUTOPILOT_DEFAULTS,
  type AutopilotSettings,
} from '../../../src/autopilot/settings/autopilot-settings.ts';
import { NETWORK_PIN } from '../../../src/autopilot/settings/network-rule.ts';
import { NOTHING_KNOWN, saveNetworkMemory } from '../../../src/storage/network.ts';
import { UNRECOGNISED } from '../../../src/storage/network-key.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';
import { ORIGIN, runOf } from '../../support/autopilot-runs.ts';
import { knownWithUdp } from '../../support/known-network.ts';
import { PinsInMemory } from '../../support/pins-in-memory.ts';
import { StubbedStorage } from '../../support/stubbed-storage.ts';
import '../../support/own-database.ts';

const IMAGES = 'https://images.test';
const HINDERED = { open: 0.02, policed: 0.96, blocked: 0.02 };
const OPEN = { open: 0.98, policed: 0.01, blocked: 0.01 };
const ON: AutopilotSettings = { ...AUTOPILOT_DEFAULTS, isOn: true };

let pins: PinsInMemory;

beforeEach(() => {
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => 'en-GB' },
    storage: { session: new StubbedStorage() },
  });
  pins = new PinsInMemory();
});

afterEach(() => vi.unstubAllGlobals());

/** A run that keeps both origins of the page off HTTP/3, with one load missing until an origin is due. */
const pageRun = (more: Partial<AutopilotRun> = {}) =>
  runOf({
    state: 'kept',
    heldLoads: HELD_LOADS - 1,
    pins: [ORIGIN, IMAGES].map((origin) => ({ origin, kind: 'avoid-h3' as const })),
    ...more,
  });
const networkRun = (more: Partial<AutopilotRun> = {}) =>
  pageRun({ trigger: 'network', pins: [NETWORK_PIN], ...more });

/** The page is loaded once more, with the images over a protocol. @returns the runs, whose pins are made */
async function recheck(
  all: AutopilotRun[],
  udp: NetworkCluster['udp'],
  { protocol = 'h2', settings = ON }: { protocol?: 'h2' | 'h3'; settings?: AutopilotSettings } = {},
): Promise<Runs> {
  const cluster = { ...knownWithUdp(udp).cluster, updatedAtMs: Date.now() };
  await saveNetworkMemory({ ...NOTHING_KNOWN, sites: { 'page.test': cluster, 'two.test': cluster } });
  for (const run of all) await pins.pin(run.pins, { minutes: 60, persistent: false });
  const runs = new Runs(pins, all);
  const pinned = Object.fromEntries([ORIGIN, IMAGES, EVERY_ORIGIN].map((origin) => [origin, 'h2' as const]));
  const isOfPage = all.some((run) => run.trigger !== 'network');
  const requests = [
    requestOf(0, { bodyBytes: 400_000 }),
    requestOf(1, { url: `${IMAGES}/1`, bodyBytes: 40_000, protocol }),
  ];
  const load = loadOf(9, {
    recording: { requests },
    pinned: isOfPage ? pinned : { [EVERY_ORIGIN]: 'h2' },
  });
  await recheckUdp(runs, load, [], settings);
  return runs;
}

const sparedBy = ({ all }: Runs) => all.map(({ spared }) => spared?.origin ?? null);

test('an origin is spared after so many loads with the pins of a run that is kept', async () => {
  expect(sparedBy(await recheck([networkRun()], HINDERED))).toEqual([IMAGES]);
  expect(pins.leftSites).toEqual([IMAGES]);
  const early = await recheck([networkRun({ heldLoads: HELD_LOADS - 2 })], HINDERED);
  expect([sparedBy(early), early.all[0]?.heldLoads]).toEqual([[null], HELD_LOADS - 1]);
  expect(sparedBy(await recheck([networkRun({ state: 'checking' })], HINDERED))).toEqual([null]);
});

test('one of a page’s own run loses its pin meanwhile', async () => {
  expect(sparedBy(await recheck([pageRun()], HINDERED))).toEqual([IMAGES]);
  expect(pins.active).toEqual([`avoid-h3 ${ORIGIN}`]);
});

test('one at a time', async () => {
  const spared = { origin: IMAGES, loads: 0 };
  const second = networkRun();
  const runs = await recheck([networkRun({ spared }), second], HINDERED);
  expect([sparedBy(runs), second.heldLoads]).toEqual([[IMAGES, null], HELD_LOADS - 1]);
});

test('none where UDP is taken for open, where a rule asked for the pins, or where the user wants HTTP/3 off', async () => {
  expect(sparedBy(await recheck([networkRun()], OPEN))).toEqual([null]);
  expect(sparedBy(await recheck([pageRun({ trigger: 'rule' })], HINDERED))).toEqual([null]);
  const networkRules = [{ network: UNRECOGNISED, keepsOffH3: true }];
  expect(sparedBy(await recheck([networkRun()], HINDERED, { settings: { ...ON, networkRules } }))).toEqual([
    null,
  ]);
});

test('where the spared origin shows UDP open, all that was kept off for UDP ends', async () => {
  const spared = { origin: IMAGES, loads: 0 };
  const ruled = pageRun({ trigger: 'rule', pins: [{ origin: 'https://ruled.test', kind: 'avoid-h3' }] });
  const runs = await recheck([networkRun({ spared }), ruled], OPEN, { protocol: 'h3' });
  expect(runs.all.map(({ end }) => end?.cause ?? null)).toEqual(['network-open', null]);
  expect(pins.active).toEqual(['avoid-h3 https://ruled.test']);
});

test('it is kept off again once it shows UDP hindered, or after so many loads that show nothing', async () => {
  const afterLoad = async (loads: number, protocol: 'h2' | 'h3') => {
    const runs = await recheck([networkRun({ spared: { origin: IMAGES, loads } })], HINDERED, { protocol });
    return [runs.running.length, ...sparedBy(runs)];
  };
  expect(await afterLoad(0, 'h3')).toEqual([1, null]);
  expect(await afterLoad(SPARED_LOADS - 2, 'h2')).toEqual([1, IMAGES]);
  expect(await afterLoad(SPARED_LOADS - 1, 'h2')).toEqual([1, null]);
});
