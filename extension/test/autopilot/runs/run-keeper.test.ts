import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RunKeeper } from '../../../src/autopilot/runs/run-keeper.ts';
import { readRuns, saveRuns } from '../../../src/autopilot/runs/run-log.ts';
import { runOf } from '../../support/autopilot-runs.ts';
import { PinsInMemory } from '../../support/pins-in-memory.ts';
import { StubbedStorage } from '../../support/stubbed-storage.ts';
import '../../support/own-database.ts';

let pins: PinsInMemory;

beforeEach(async () => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
  pins = new PinsInMemory();
  const run = runOf();
  await pins.pin(run.pins, { minutes: 60, persistent: false });
  await saveRuns([run], 0);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A keeper of this session's runs, as the first worker of the session leaves the log. */
async function keepSession(): Promise<RunKeeper> {
  await chrome.storage.session.set({ 'autopilot-session': true });
  return new RunKeeper(pins);
}

const readEnds = async () => (await readRuns()).map(({ state, end }) => end?.cause ?? state);

test('the runs of the last session have ended before the first change', async () => {
  const keeper = new RunKeeper(pins);
  expect(await keeper.change(async ({ running }) => running.length)).toBe(0);
  expect(await readEnds()).toEqual(['closed']);
});

test('those of a worker of the same session go on', async () => {
  const keeper = await keepSession();
  expect(await keeper.change(async ({ running }) => running.length)).toBe(1);
});

test('each change begins with what the one before has saved', async () => {
  const keeper = await keepSession();
  const seen: number[] = [];
  const note = async (act: () => Promise<void>, count: number) => {
    seen.push(count);
    await act();
  };
  await Promise.all([
    keeper.change((runs) => note(() => runs.end(runs.all, 'off'), runs.running.length)),
    keeper.change((runs) => note(async () => undefined, runs.running.length)),
  ]);
  expect([seen, await readEnds()]).toEqual([[1, 0], ['off']]);
});

test('a change that fails is saved as far as it came, and the next one is made', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const keeper = await keepSession();
  const failing = keeper.change(async (runs) => {
    await runs.end(runs.all, 'off');
    throw new Error('no store');
  });
  await expect(failing).rejects.toThrow('no store');
  expect([await readEnds(), await keeper.change(async () => 'made')]).toEqual([['off'], 'made']);
});

test('a run ends as soon as its pins are removed elsewhere', async () => {
  const keeper = await keepSession();
  pins.unpinElsewhere();
  expect((await keeper.read()).map(({ end }) => end?.cause)).toEqual(['you']);
});

test('where pins cannot be listed as they change, that is reported, and the next change is made', async () => {
  const reported = vi.spyOn(console, 'error').mockReturnValue();
  const keeper = await keepSession();
  vi.spyOn(pins, 'listPins').mockRejectedValueOnce(new Error('no helper'));
  pins.unpinElsewhere();
  expect([await keeper.change(async () => 'made'), reported.mock.calls.length]).toEqual(['made', 1]);
});
