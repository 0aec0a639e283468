import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FuzzResult, fuzzTarget } from '../../src/fuzz/fuzz-target.ts';

/** Targets that start servers; the others are parsers. */
export const SERVERS = [
  'control',
  'dns',
  'connect-heads',
  'http1-heads',
  'h1-answers',
  'h2-answers',
  'h3-answers',
];

/** Runs the same executions every time: a fixed seed, and no corpus but the seeds. */
export async function fuzzFixed(target: string, executions: number): Promise<FuzzResult> {
  const folder = mkdtempSync(join(tmpdir(), 'hopwise-fuzz-'));
  try {
    return await fuzzTarget({
      target,
      seed: 20_261_122,
      seconds: 100,
      executions,
      corpus: join(folder, 'corpus'),
      findings: join(folder, 'findings'),
      signal: new AbortController().signal,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
