/** What `npm test` runs once the set-up is done: scripts/test.mjs. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, expect, test } from 'vitest';

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
  expect(stderr).toBe(`--only: expected some of lint,go,python,unit,integration,e2e,long, got ${name}\n`);
  expect(readdirSync(temporary)).toEqual([]);
});

/** The last lines that scripts/test.mjs prints of an outcome. */
function summaryOf(outcome: object): string[] {
  const script = `import(${JSON.stringify(join(ROOT, 'scripts/test-summary.mjs'))}).then(({ summaryOf }) =>
    console.log(summaryOf(${JSON.stringify(outcome)}).join('\\n')))`;
  const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

test('says before the counts which tests failed, and why', () => {
  const outcome = {
    passed: 7,
    failed: 1,
    skipped: 2,
    failures: [
      { where: 'a.test.ts', what: 'the page › loads', why: '\x1b[31mError\x1b[39m: late\n\n  by 3 ms\n' },
    ],
  };
  expect(summaryOf(outcome)).toEqual([
    '',
    'failed:',
    '  a.test.ts › the page › loads',
    '    Error: late · by 3 ms',
    '',
    '2 skipped',
    '7 passed, 1 failed',
  ]);
  const many = Array.from({ length: 100 }, (_, index) => ({
    where: 'c',
    what: `${index}`,
    why: 'x'.repeat(999),
  }));
  const lines = summaryOf({ ...outcome, failed: 100, failures: many });
  expect(lines.length).toBeLessThanOrEqual(30);
  expect(lines.slice(2, 4).map((line) => line.slice(0, 12))).toEqual(['  c › 0: xxx', '  c › 1: xxx']);
  expect(lines.slice(-4)).toEqual(['  and 77 more', '', '2 skipped', '7 passed, 100 failed']);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(240);
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
