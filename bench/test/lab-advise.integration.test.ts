import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../bench/dist/ground-truth/main.js', import.meta.url));
const advise = (...words: string[]) =>
  spawnSync(process.execPath, [COMMAND, 'advise', ...words], { encoding: 'utf8' });

interface Judged {
  kind: string;
  promised: number;
  gain: number;
  difference: { estimate: number; low: number; high: number };
}

it('loads a page before and after each advice, and sums up each kind', () => {
  const kinds = ['offer-h2', 'withdraw-h3', 'no-redirect', 'page-cache', 'compression', 'one-origin'];
  const { status, stdout, stderr } = advise(
    'shop',
    ...['--networks', 'fast', '--loads', '1', '--kinds', kinds.join(','), '--json'],
  );
  expect(status, stderr).toBe(0);
  const judged: { cells: Judged[]; kinds: { kind: string; cells: number }[] } = JSON.parse(stdout);
  expect(judged.cells.map(({ kind }) => kind)).toEqual(kinds);
  expect(judged.kinds).toMatchObject(kinds.map((kind) => ({ kind, cells: 1 })));
  for (const { promised, gain, difference } of judged.cells) {
    expect(difference.estimate).toBeCloseTo(gain - promised, 10);
    // One load has no interval.
    expect([difference.low, difference.high]).toEqual([difference.estimate, difference.estimate]);
  }
  // 400 ms of a load of less than 2 s.
  expect(judged.cells.find(({ kind }) => kind === 'page-cache')!.gain).toBeGreaterThan(0.2);
});

it('refuses an unknown network in one line', () => {
  const { status, stderr } = advise('shop', '--networks', 'lte-por');
  expect(stderr).toMatch(/^hopwise: network "lte-por": expected one of .*\n$/);
  expect(status).toBe(2);
});
