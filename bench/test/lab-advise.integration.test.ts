import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../bench/dist/ground-truth/main.js', import.meta.url));
const advise = (...words: string[]) =>
  spawnSync(process.execPath, [COMMAND, 'advise', ...words], { encoding: 'utf8' });

it('loads a page before and after each advice', () => {
  const { status, stdout, stderr } = advise(
    'shop',
    '--network',
    'fast',
    '--loads',
    '1',
    '--offers-h3',
    '--json',
  );
  expect(status, stderr).toBe(0);
  const measured: { kind: string; predicted: number; measured: object }[] = JSON.parse(stdout);
  expect(measured.map(({ kind }) => kind)).toEqual([
    'withdraw-h3',
    'initial-window',
    'bbr',
    'priorities',
    'compression',
    'one-origin',
  ]);
  // One load has no interval.
  for (const { measured: gained } of measured) {
    const { gain } = gained as { gain: number };
    expect(gained).toEqual({ gain, low: gain, high: gain });
  }
});

it('refuses an unknown network in one line', () => {
  const { status, stderr } = advise('shop', '--network', 'lte-por');
  expect(stderr).toMatch(/^hopwise: network "lte-por": expected one of .*\n$/);
  expect(status).toBe(2);
});
