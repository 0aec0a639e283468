/** `npm run bench -- loop` on one page, while its network changes. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LoopFigures } from '../../src/loop/judge-loop.ts';
import type { JudgedRun } from '../../src/loop/judge-runs.ts';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'bench/src/loop/main.ts');

let out: string;
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'hopwise-loop-test-'));
});
afterAll(() => rm(out, { recursive: true, force: true }));

const bench = (...words: string[]) =>
  run(process.execPath, ['--conditions=source', SCRIPT, '--out', out, ...words], { maxBuffer: 1e7 });

it('loads the page in all arms, the fixed protocols now and then, and keeps the visits', async () => {
  const words = ['--page', 'shop', '--networks', 'fast>udp-policed', '--loads', '4', '--every', '2'];
  const { stdout, stderr } = await bench(...words, '--json');
  const {
    figures: [figures],
    runs,
  } = JSON.parse(stdout) as { figures: [LoopFigures]; runs: JudgedRun[] };
  for (const { page, loads } of runs)
    expect({ page, isWithin: loads < 4 }).toEqual({ page: 'shop', isWithin: true });
  expect(figures.cells[0]).toMatchObject({ network: 'fast>udp-policed', page: 'shop', visits: 4 });
  expect(stderr.match(/, h3 \d+ ms/g)).toHaveLength(2);
  const again = await bench(...words);
  expect(again.stdout).toContain('The closed loop as it ships');
  expect(again.stdout).toContain('Pins of the autopilot');
  expect(again.stderr).not.toContain('visit');
});
