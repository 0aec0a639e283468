import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import type { JudgedClaim } from '../../src/papers/report.ts';

const COMMAND = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'hopwise-papers-'));
const papers = (...words: string[]) =>
  spawnSync(process.execPath, [COMMAND, 'papers', ...words], { encoding: 'utf8' });

afterAll(() => rmSync(dir, { recursive: true }));

it('judges generated curves, and says what it did not run', () => {
  mkdirSync(join(dir, 'econ-pcwnd'));
  // Loss falls and rises over 100 windows around `centre`, which is smaller for ten connections.
  for (const [connections, centre] of [
    [1, 500],
    [10, 100],
  ] as const) {
    const rows = Array.from(
      { length: 100 },
      (_, index) => `${centre + index},${(index - 50) ** 2 * 1e-7 + 1e-6}`,
    );
    writeFileSync(
      join(dir, 'econ-pcwnd', `azure_cubic_npc${connections}.csv.gz`),
      gzipSync(`cwnd,p\n${rows.join('\n')}\n`),
    );
  }
  const write = join(dir, 'papers.md');
  const { status, stdout, stderr } = papers('econ', '--quick', '--data', dir, '--write', write, '--json');
  expect(status, stderr).toBe(0);
  const verdicts = Object.fromEntries(
    (JSON.parse(stdout) as JudgedClaim[]).map(({ id, verdict }) => [id, verdict]),
  );
  expect(verdicts).toMatchObject({
    'econ-loss-azure': 'reproduced',
    'econ-loss-others': 'not run',
    'econ-windows-by-connections': 'reproduced',
    'econ-flows-0.1%': 'not run',
    'econ-networks': 'not comparable',
    'econ-pages-choice': 'not run',
  });
  const markdown = readFileSync(write, 'utf8');
  expect(markdown).toContain('--data DIR');
  expect(markdown).not.toContain(`--data ${dir}`);
});

it('needs no data to say which claims want it', () => {
  const { status, stdout } = papers('wisetrans', '--quick');
  expect(status).toBe(0);
  expect(stdout).toContain('data not given: --data');
});

it('refuses a folder that is not there in one line', () => {
  const { status, stderr } = papers('--data', join(dir, 'absent'));
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain('expected a folder');
  expect(status).toBe(2);
});

it('needs an index of the recorded pages', () => {
  const { status, stdout, stderr } = papers('econ', '--only', 'econ-pages-choice', '--data', dir, '--json');
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { id: 'econ-pages-choice', verdict: 'not run', finding: { reason: 'no har/index.csv in --data' } },
  ]);
});

it('refuses claims that there are not in one line', () => {
  const { status, stderr } = papers('--only', 'econ-none');
  expect(stderr.trim()).toBe('hopwise: --only econ-none: expected ids of claims');
  expect(status).toBe(2);
});
