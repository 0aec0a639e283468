import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeptWindows, type KindTimes } from '../../src/windows/kept-windows.ts';

const SETTINGS = { prefixes: 4, learning: 60, judged: 15 };
const SERVED = { times: [100, 120], counts: { segments: 42, retransmitted: 1, timeouts: 0 } };
const CABLE: KindTimes = {
  kind: 'cable',
  learned: SERVED,
  used: [10, 30],
  fixed: [{ window: 10, ...SERVED }],
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-windows-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('continues with the kinds that were measured', async () => {
  const first = await KeptWindows.open(folder, SETTINGS);
  expect(first.kinds).toEqual([]);
  await first.add(CABLE);
  const second = await KeptWindows.open(folder, SETTINGS);
  expect(second.kinds).toEqual([CABLE]);
  await second.add({ ...CABLE, kind: 'dsl' });
  expect((await KeptWindows.open(folder, SETTINGS)).kinds.map(({ kind }) => kind)).toEqual(['cable', 'dsl']);
});

it('refuses what a run with other options measured', async () => {
  await (await KeptWindows.open(folder, SETTINGS)).add(CABLE);
  await expect(KeptWindows.open(folder, { ...SETTINGS, judged: 30 })).rejects.toThrow(
    /windows\.json: expected a run with the same options; name another folder by --out/,
  );
});
