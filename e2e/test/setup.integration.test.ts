/** The set-up that every npm script begins with: scripts/setup.mjs. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../src/paths.ts';

const SCRIPT = join(ROOT, 'scripts/hopwise.mjs');

function setup(args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, 'setup', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

const ASK = `import('${join(ROOT, 'scripts/setup.mjs')}').then(({ rootPrefix }) => rootPrefix('paint the door', {})).then(
  (words) => console.log('leave: ' + JSON.stringify(words)),
  (error) => console.log(error.constructor.name + ': ' + error.message),
)`;

/** What a person at a terminal sees who gives this answer when asked for root. */
function answer(keys: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const terminal = spawn('script', ['-qec', `"${process.execPath}" -e "$ASK"`, '/dev/null'], {
      env: { ...process.env, ASK },
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
  expect(await answer('y\n')).toMatch(process.getuid?.() === 0 ? /leave: \[\]/ : /leave: \["|sudo/);
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
