import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { LoopFigures } from '../src/loop/judge-loop.ts';

const COMMAND = fileURLToPath(new URL('../../bench/dist/loop/main.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'hopwise-loop-'));
const loop = (...words: string[]) => spawnSync(process.execPath, [COMMAND, ...words], { encoding: 'utf8' });

afterAll(() => rmSync(dir, { recursive: true }));

it('loads a page in the closed loop, beside the browser’s own choice, and continues', () => {
  const words = ['--page', 'shop', '--loads', '4', '--repeats', '0', '--out', join(dir, 'loop')];
  const { status, stdout, stderr } = loop(...words, '--json');
  expect(status, stderr).toBe(0);
  const figures: LoopFigures = JSON.parse(stdout);
  expect(figures).toMatchObject({ loads: 4, trials: { loads: 0 } });
  expect(figures.phases.map(({ network }) => network)).toEqual(['cable', 'udp-policed', 'lossy', 'cable']);
  expect(Object.keys(figures.phases[0]!.armsMs)).toEqual(['natural', 'h1', 'h2', 'h3']);
  // All loads are there: nothing is loaded again.
  const again = loop(...words);
  expect(again.status, again.stderr).toBe(0);
  expect(again.stderr).toBe('');
  expect(again.stdout).toContain('Closed loop, 4 loads');
}, 300_000);

it('refuses fewer loads than phases in one line', () => {
  const { status, stderr } = loop('--loads', '3');
  expect(stderr.trim().split('\n')[0]).toContain("'3' is invalid");
  expect(status).toBe(2);
});
