import { EVERY_ORIGIN, HOUR_MS } from '@hopwise/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AutopilotRun } from '../../../src/autopilot/runs/autopilot-run.ts';
import { readRuns } from '../../../src/autopilot/runs/run-log.ts';
import { Runs } from '../../../src/autopilot/runs/runs.ts';
import { NETWORK_PIN } from '../../../src/autopilot/settings/network-rule.ts';
import { ORIGIN, runOf } from '../../support/autopilot-runs.ts';
import { PinsInMemory } from '../../support/pins-in-memory.ts';
import { StubbedStorage } from '../../support/stubbed-storage.ts';
import '../../support/own-database.ts';

const IMAGES = 'https://images.test';
const BOTH: AutopilotRun['pins'] = [
  { origin: ORIGIN, kind: 'avoid-h3' },
  { origin: IMAGES, kind: 'avoid-h3' },
];
const PLANNED = { trigger: 'decision', pins: BOTH, predicted: null } as const;
const OCCASION = { networkKey: null, load: null, beforeMs: [] };

let pins: PinsInMemory;

beforeEach(() => {
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => 'en-GB' },
    storage: { session: new StubbedStorage() },
  });
  pins = new PinsInMemory();
});

afterEach(() => vi.unstubAllGlobals());

/** Runs whose pins are made. */
async function runsWith(...all: AutopilotRun[]): Promise<Runs> {
  for (const run of all) await pins.pin(run.pins, { minutes: 60, persistent: false });
  return new Runs(pins, all);
}

const endsOf = ({ all }: Runs) => all.map(({ state, end }) => end?.cause ?? state);

test('a run is in the log before its pins are made', async () => {
  const runs = await runsWith();
  let logged: AutopilotRun[] = [];
  const { pin } = pins;
  pins.pin = async (...args) => {
    logged = await readRuns();
    return pin.apply(pins, args);
  };
  const run = await runs.start({ ...PLANNED, pins: [...BOTH] }, OCCASION);
  expect([logged.map(({ id }) => id), pins.active]).toEqual([
    [run?.id],
    [`avoid-h3 ${ORIGIN}`, `avoid-h3 ${IMAGES}`],
  ]);
});

test('a run has the pins that were missing; none starts where none was, or where the user chose another kind', async () => {
  const runs = await runsWith(runOf());
  const start = () => runs.start({ ...PLANNED, pins: [...BOTH] }, OCCASION);
  expect((await start())?.pins).toEqual([{ origin: IMAGES, kind: 'avoid-h3' }]);
  expect(await start()).toBeNull();
  pins = new PinsInMemory();
  await pins.pin([{ origin: IMAGES, kind: 'h2' }], { minutes: 60, persistent: false });
  expect(await new Runs(pins, []).start({ ...PLANNED, pins: [...BOTH] }, OCCASION)).toBeNull();
});

test('a run whose pins are refused has ended with the reason', async () => {
  const runs = await runsWith();
  pins.refusal = 'no helper';
  expect(await runs.start({ ...PLANNED, pins: [...BOTH] }, OCCASION)).toBeNull();
  expect(runs.all[0]?.end).toMatchObject({ cause: 'refused', reason: 'no helper' });
});

test('a run that ends loses its pins; after a trial the browser keeps the offers that it knows', async () => {
  const runs = await runsWith(runOf({ trigger: 'trial' }));
  await runs.end(runs.all, 'tried');
  expect([pins.active, pins.lifting, runs.isChanged]).toEqual([[], { keepsAlternatives: true }, true]);
});

test.each([
  ['a trial is an hour', 'trial', 1],
  ['another run is a day', 'decision', 24],
] as const)('the time of %s', async (_words, trigger, hours) => {
  const made = (hoursAgo: number) => runOf({ trigger, madeAtMs: Date.now() - hoursAgo * HOUR_MS });
  const runs = await runsWith(made(hours + 0.01), made(hours - 0.01));
  await runs.endExpired();
  expect(endsOf(runs)).toEqual(['expired', 'checking']);
});

test('a run ends with its pins: lifted by the helper, removed, or made anew as another kind', async () => {
  const runs = await runsWith(runOf());
  await runs.endWithoutPins();
  expect(endsOf(runs)).toEqual(['checking']);
  pins.lift('refused by the server');
  await runs.endWithoutPins();
  expect(runs.all[0]?.end).toMatchObject({ cause: 'trouble', reason: 'refused by the server' });

  const others = await runsWith(runOf());
  pins.isRestored = false;
  pins.unpinElsewhere();
  await others.endWithoutPins();
  expect(endsOf(others), 'may be made again').toEqual(['checking']);
  pins.isRestored = true;
  await others.endWithoutPins();
  expect(endsOf(others)).toEqual(['you']);

  const replaced = await runsWith(runOf());
  await pins.pin([{ origin: ORIGIN, kind: 'h2' }], { minutes: 60, persistent: false });
  await replaced.endWithoutPins();
  expect([endsOf(replaced), pins.active]).toEqual([['you'], [`h2 ${ORIGIN}`]]);
});

test('a run goes on with the pins that the user leaves to it, and ends with the last of them', async () => {
  const runs = await runsWith(runOf({ pins: [...BOTH] }));
  await runs.handOver([IMAGES]);
  expect([endsOf(runs), runs.all[0]?.pins]).toEqual([['checking'], [BOTH[0]]]);
  await runs.handOver([ORIGIN]);
  expect([endsOf(runs), runs.running]).toEqual([['you'], []]);
});

test('a run whose pins are all the user’s by now spares nothing any more', async () => {
  const runs = await runsWith(runOf({ spared: { origin: IMAGES, loads: 0 } }));
  await runs.handOver([ORIGIN]);
  expect(runs.all[0]).not.toHaveProperty('spared');
});

test.each([
  ['ends', (runs: Runs, run: AutopilotRun) => runs.end([run], 'slower')],
  ['is handed over', (runs: Runs) => runs.handOver([ORIGIN])],
])('a pin of every origin holds for a spared origin again once its run %s', async (_words, finish) => {
  const runs = await runsWith(runOf({ pins: [...BOTH] }), runOf({ trigger: 'network', pins: [NETWORK_PIN] }));
  const [run] = runs.all;
  await runs.spare(run!, IMAGES);
  await finish(runs, run!);
  expect([endsOf(runs)[1], pins.leftSites]).toEqual(['checking', []]);
});

test('a run ends although the helper does not answer about what it spared', async () => {
  const runs = await runsWith(runOf({ pins: [...BOTH] }));
  await runs.spare(runs.all[0]!, IMAGES);
  pins.leaveSites = async () => {
    throw new Error('no helper');
  };
  await runs.end(runs.all, 'off');
  expect(endsOf(runs)).toEqual(['off']);
});

test('a spared origin is without its pin, and left by one of every origin, until it is kept off again', async () => {
  const runs = await runsWith(runOf({ pins: [...BOTH] }), runOf({ trigger: 'network', pins: [NETWORK_PIN] }));
  const [run] = runs.all;
  await runs.spare(run!, IMAGES);
  expect([pins.active, pins.leftSites]).toEqual([
    [`avoid-h3 ${ORIGIN}`, `avoid-h3 ${EVERY_ORIGIN}`],
    [IMAGES],
  ]);
  await runs.endWithoutPins();
  expect(endsOf(runs), 'its run has not lost it').toEqual(['checking', 'checking']);
  await runs.endSparing(run!);
  expect([pins.active.includes(`avoid-h3 ${IMAGES}`), pins.leftSites, run?.pins]).toEqual([true, [], BOTH]);
});
