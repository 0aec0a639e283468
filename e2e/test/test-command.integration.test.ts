/** What `npm test` runs once the set-up is done: scripts/test.mjs. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../src/paths.ts';

const SCRIPT = join(ROOT, 'scripts/test.mjs');

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'hopwise-test-command-'));
});
afterEach(() => rmSync(temporary, { recursive: true }));

test.each([
  ['nonsense', ['--only', 'unit,nonsense']],
  ['toString', ['--only', 'toString']],
  ['nothing', ['--only']],
])('names the suites when asked for %s', (name, args) => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: temporary },
  });
  expect(status).toBe(2);
  expect(stderr).toBe(`--only: expected some of lint,go,unit,integration,e2e, got ${name}\n`);
  expect(readdirSync(temporary)).toEqual([]);
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
