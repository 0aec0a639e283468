import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { WindowFigures } from '../../src/initial-window/judge-window.ts';

const COMMAND = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const initialWindow = (...words: string[]) =>
  spawnSync(process.execPath, [COMMAND, 'initial-window', ...words], { encoding: 'utf8' });

it('sends responses with the windows that it chooses, beside a window of 10', () => {
  const { status, stdout, stderr } = initialWindow('--figure', '7', '--requests', '5', '--json');
  expect(status, stderr).toBe(0);
  const learned: { source: string; phases: WindowFigures[] }[] = JSON.parse(stdout);
  expect(learned.map(({ source }) => source)).toEqual(['Figure 7']);
  for (const { phases } of learned) expect(phases.map(({ requests }) => requests)).toEqual([5, 5, 5]);
  // 100 kB take 40 ms at 20 Mbit/s, and a round trip of 20 ms before the first byte.
  expect(learned[0]!.phases[0]!.all.usualP80Ms).toBeGreaterThan(60);
  expect(learned[0]!.phases[0]!.all.usualP80Ms).toBeLessThan(500);
});

it('refuses too few requests in one line', () => {
  const { status, stderr } = initialWindow('--requests', '1');
  expect(stderr.trim().split('\n')[0]).toContain(
    '--requests: expected a whole number from 5 to 10000, got "1"',
  );
  expect(status).toBe(2);
});
