/** The set-up that every npm script begins with: scripts/setup/. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SCRIPT = join(ROOT, 'scripts/hopwise.mjs');

function setup(args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, 'setup', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

const ASK = `import('${join(ROOT, 'scripts/setup/ask-root.mjs')}').then(({ rootPrefix }) => rootPrefix('paint the door', {})).then(
  (words) => console.log('leave: ' + JSON.stringify(words)),
  (error) => console.log(error.constructor.name + ': ' + error.message),
)`;

/** Holds a `sudo` that always succeeds. */
let bin: string;
beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), 'hopwise-sudo-'));
  writeFileSync(join(bin, 'sudo'), '#!/bin/sh\n', { mode: 0o755 });
});
afterAll(() => rmSync(bin, { recursive: true, force: true }));
const withSudo = () => ({ ...process.env, ASK, PATH: `${bin}${delimiter}${process.env.PATH}` });
const isRoot = process.getuid?.() === 0;

/** The terminal's text when the user gives this answer to the question for root. */
function answer(keys: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const terminal = spawn('script', ['-qec', `"${process.execPath}" -e "$ASK"`, '/dev/null'], {
      env: withSudo(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let seen = '';
    terminal.stdout.on('data', (chunk) => {
      const before = seen;
      seen += chunk;
      if (seen.includes('[y/N]') && !before.includes('[y/N]')) terminal.stdin.write(keys);
    });
    terminal.on('error', reject);
    terminal.on('close', () => resolve(seen));
  });
}

test.each([
  ['n', 'n\n'],
  ['nothing', '\n'],
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('does not become root when the answer is %s', async (_, keys) => {
  expect(await answer(keys)).toMatch(/SetupError: not done: paint the door\s*$/);
});

test('goes ahead when the answer is y', async () => {
  expect(await answer('y\n')).toContain(`leave: ${isRoot ? '[]' : JSON.stringify([join(bin, 'sudo')])}`);
});

test('does not ask where there is no terminal', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', ASK], {
    encoding: 'utf8',
    env: withSudo(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(stdout).toBe(`leave: ${isRoot ? '[]' : JSON.stringify([join(bin, 'sudo'), '-n'])}\n`);
  expect(stderr).toBe('');
});

test('waits for a set-up that is running, not for one that was killed', async () => {
  const lock = join(ROOT, '.cache/setup.lock');
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  writeFileSync(lock, String(process.pid));
  const child = spawn(process.execPath, [SCRIPT, 'setup'], {
    env: { ...process.env, HOPWISE_CHROMIUM: '/nowhere/chromium' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let seen = '';
  const ended = new Promise((resolve) => child.on('close', resolve));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    // An id above those that processes have: the owner is gone.
    if (!seen.includes('waiting') && (seen + text).includes('waiting'))
      writeFileSync(lock, String(2 ** 22 + 1));
    seen += text;
  });
  expect(await ended).toBe(1);
  expect(seen).toContain(`waiting for the one that is running (process ${process.pid})`);
  expect(seen).toContain('HOPWISE_CHROMIUM names /nowhere/chromium');
  expect(existsSync(lock)).toBe(false);
});

test('does not install Chromium in place of one that is named and not there', () => {
  const { status, stderr } = setup([], { HOPWISE_CHROMIUM: '/nowhere/chromium' });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^hopwise: HOPWISE_CHROMIUM names \/nowhere\/chromium, which is not there: set it to/m,
  );
});

test('--check says what is missing', () => {
  const { status, stdout } = setup(['--check'], { HOPWISE_CHROMIUM: '/nowhere/chromium' });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^missing {2}chromium .*\/nowhere\/chromium/m);
  expect(stdout).toMatch(/^ok {7}packages /m);
});

test('does not take what tests write for sources', () => {
  const folder = join(ROOT, 'e2e/test-results');
  const file = join(folder, 'setup-test.json');
  const before = setup(['--check']).stdout;
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, '{}');
    expect(setup(['--check']).stdout).toBe(before);
  } finally {
    rmSync(file, { force: true });
  }
});
