import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { readCell } from '../../../src/advise/cell-file.ts';

const COMMAND = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

interface Judged {
  kind: string;
  promised: number;
  gain: number;
  difference: { estimate: number; low: number; high: number };
}

/** Runs `npm run lab -- advise` with these words. */
export const advise = (...words: string[]) =>
  spawnSync(process.execPath, [COMMAND, 'advise', ...words], { encoding: 'utf8' });

/**
 * Loads a page once before and after advice of these kinds, `page-cache` among them, and judges what is printed of each.
 *
 * @param page a name or a folder
 */
export async function expectKindsJudged(
  page: string,
  kinds: readonly string[],
  ...words: string[]
): Promise<Judged[]> {
  const out = mkdtempSync(join(tmpdir(), 'hopwise-advise-'));
  try {
    const { status, stdout, stderr } = advise(
      page,
      ...['--networks', 'fast', '--loads', '1', '--kinds', kinds.join(','), '--json', '--out', out, ...words],
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
    const cell = await readCell(out, { page: basename(page), network: 'fast', stack: 'go' });
    const { phases } = cell!.recordings['slow-page']!.requests[0]!;
    expect(phases.responseStartMs! - phases.requestStartMs!).toBeGreaterThan(400);
    return judged.cells;
  } finally {
    rmSync(out, { recursive: true });
  }
}
