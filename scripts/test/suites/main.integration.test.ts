/** What `npm test` runs once the set-up is done: scripts/suites/main.ts. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = join(ROOT, 'scripts/suites/main.ts');

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'hopwise-test-command-'));
});
afterEach(() => rmSync(temporary, { recursive: true }));

test.each([
  ['nonsense', ['--only', 'unit,nonsense']],
  ['toString', ['--only', 'toString']],
])('names the suites when asked for %s', (name, args) => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: temporary },
  });
  expect(status).toBe(2);
  expect(stderr).toBe(
    `hopwise: --only: expected some of lint,python,unit,go,integration,e2e,alone,long, got ${name} (see npm test -- --help)\n`,
  );
  expect(readdirSync(temporary)).toEqual([]);
});

test('refuses options that do not fit, in one line', () => {
  for (const words of [['--only'], ['--nonsense'], ['--since', 'HEAD'], ['--changed', '--only', 'unit']]) {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...words], { encoding: 'utf8' });
    expect(stderr).toMatch(/^hopwise: .* \(see npm test -- --help\)\n$/);
    expect(status).toBe(2);
  }
});

test('ends with what it runs when it is interrupted', async () => {
  const child = spawn(process.execPath, [SCRIPT, '--only', 'lint'], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = '';
  child.stdout.on('data', (chunk) => {
    if (!seen.includes('# lint') && String(chunk).includes('# lint')) child.kill('SIGTERM');
    seen += chunk;
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130);
  expect(seen).not.toContain('passed');
  expect(readdirSync(temporary)).toEqual([]);
});
