import { EVERY_ORIGIN } from '@hopwise/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  applyNetworkRule,
  saveChoice,
  startOnKnownNetwork,
  switchNetwork,
  undoRuns,
} from '../../../src/autopilot/choosing/network-run.ts';
import type { AutopilotRun } from '../../../src/autopilot/runs/autopilot-run.ts';
import { Runs } from '../../../src/autopilot/runs/runs.ts';
import {
  AUTOPILOT_DEFAULTS,
  readAutopilotSettings,
  saveAutopilotSettings,
} from '../../../src/autopilot/settings/autopilot-settings.ts';
import { NETWORK_PIN } from '../../../src/autopilot/settings/network-rule.ts';
import type { StoredLoad } from '../../../src/storage/loads.ts';
import { saveFoundNetwork, UNRECOGNISED } from '../../../src/storage/network-key.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';
import { runOf } from '../../support/autopilot-runs.ts';
import { actionOf, decisionOf } from '../../support/decisions.ts';
import { knownWithUdp, saveKnownNetwork } from '../../support/known-network.ts';
import { PinsInMemory } from '../../support/pins-in-memory.ts';
import { StubbedStorage } from '../../support/stubbed-storage.ts';
import '../../support/own-database.ts';

const POLICED = knownWithUdp({ policed: 0.96, open: 0.04 }).cluster;
const OPEN = knownWithUdp({ policed: 0.02, open: 0.98 }).cluster;
const EVERY = [`avoid-h3 ${EVERY_ORIGIN}`];
const KEY = 'k'.repeat(22);

let pins: PinsInMemory;

beforeEach(async () => {
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => 'en-GB' },
    storage: { session: new StubbedStorage() },
  });
  pins = new PinsInMemory();
  await saveAutopilotSettings({ ...AUTOPILOT_DEFAULTS, isOn: true });
});

afterEach(() => vi.unstubAllGlobals());

/** A run of the network that the helper does not recognise. */
const networkRun = (more: Partial<AutopilotRun> = {}) =>
  runOf({ trigger: 'network', pins: [NETWORK_PIN], state: 'kept', ...more });

async function runsWith(...all: AutopilotRun[]): Promise<Runs> {
  for (const run of all) if (run.end === null) await pins.pin(run.pins, { minutes: 60, persistent: false });
  return new Runs(pins, all);
}

const endsOf = ({ all }: Runs) => all.map(({ state, end }) => end?.cause ?? state);

const ENDED_BY_USER = {
  state: 'ended',
  end: { atMs: Date.now(), cause: 'you', reason: '' },
} as const;

const predict = async (load: StoredLoad) => {
  const decision = decisionOf([actionOf('avoid-h3', { 'https://page.test': 'h2' })]);
  return { ...load, prediction: { decision } } as StoredLoad;
};

const apply = async (runs: Runs, more: Parameters<typeof loadOf>[1] = {}, beforeMs = [900]) =>
  applyNetworkRule(runs, loadOf(9, more), beforeMs, await readAutopilotSettings(), predict);

test('a load on a network that slows HTTP/3 down has it kept off for every page, once', async () => {
  await saveKnownNetwork(POLICED);
  const runs = await runsWith();
  expect(await apply(runs)).toBe(true);
  expect([pins.active, runs.all]).toMatchObject([
    EVERY,
    [{ trigger: 'network', beforeMs: [900], lastLoadId: 9 }],
  ]);
  expect([await apply(runs), endsOf(runs)]).toEqual([true, ['kept']]);
});

test('what later visits take is predicted where no earlier load shows it, and the page may use HTTP/3', async () => {
  await saveKnownNetwork(POLICED);
  const predictedAfter = async (requests = [requestOf(0)]) => {
    const runs = await runsWith();
    await apply(runs, { recording: { requests } }, []);
    pins.pins = [];
    return runs.all[0]?.predicted;
  };
  expect(await predictedAfter([requestOf(0, { offersH3: true })])).toEqual({ beforeMs: 4300, afterMs: 2300 });
  expect(await predictedAfter()).toBeNull();
});

test('a load that may be a login page’s starts nothing', async () => {
  await saveKnownNetwork(POLICED);
  const runs = await runsWith();
  expect([await apply(runs, { requestedUrl: 'https://asked.test/' }), runs.all]).toEqual([false, []]);
});

test('a network that leaves UDP open ends its run, unless the user wants HTTP/3 off', async () => {
  await saveKnownNetwork(OPEN);
  let runs = await runsWith(networkRun());
  expect([await apply(runs), endsOf(runs), pins.active]).toEqual([false, ['network-open'], []]);
  await saveChoice(UNRECOGNISED, true);
  runs = await runsWith(networkRun());
  expect([await apply(runs), endsOf(runs), pins.active]).toEqual([true, ['kept'], EVERY]);
});

test('what the user undid is not done again, until they want it', async () => {
  await saveKnownNetwork(POLICED);
  const runs = await runsWith(networkRun(ENDED_BY_USER));
  expect([await apply(runs), pins.active]).toEqual([false, []]);
  await saveChoice(UNRECOGNISED, true);
  expect([await apply(runs), pins.active]).toEqual([true, EVERY]);
});

test('the user keeps HTTP/3 off or allows it, whatever the network does', async () => {
  await saveKnownNetwork(OPEN);
  const runs = await runsWith();
  await switchNetwork(runs, true);
  expect([pins.active, (await readAutopilotSettings()).networkRules]).toEqual([
    EVERY,
    [{ network: UNRECOGNISED, keepsOffH3: true }],
  ]);
  await switchNetwork(runs, false);
  expect([pins.active, endsOf(runs)]).toEqual([[], ['rule']]);
  await saveKnownNetwork(POLICED);
  expect([await apply(runs), pins.active]).toEqual([false, []]);
});

test('on a network that the helper recognises it starts before the first load, on another it does not', async () => {
  await saveKnownNetwork(POLICED);
  const runs = await runsWith();
  await startOnKnownNetwork(runs);
  expect(pins.active).toEqual([]);
  await saveFoundNetwork({ key: KEY, askAgainAtMs: Number.MAX_SAFE_INTEGER, usedAtMs: Date.now() });
  await startOnKnownNetwork(runs);
  expect(pins.active, 'nothing is known of it').toEqual([]);
  await saveKnownNetwork(POLICED);
  await startOnKnownNetwork(runs);
  expect([pins.active, runs.all]).toMatchObject([EVERY, [{ networkKey: KEY, pageUrl: '', beforeMs: [] }]]);
});

test('a run that is undone takes the user’s choice for its network with it', async () => {
  const runs = await runsWith();
  await switchNetwork(runs, true);
  await undoRuns(runs, runs.all);
  expect([endsOf(runs), pins.active, (await readAutopilotSettings()).networkRules]).toEqual([
    ['you'],
    [],
    [],
  ]);
});
