import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';

const PROGRAM = pathToFileURL(join(ROOT, 'lab/dist/command/program.js')).href;

test.each([
  ['the work', ''],
  ['a step of the clean-up', "cleanup.add('a step', () => never);"],
])('cleans up where %s never settles', async (_what, first) => {
  // A short name: what a run makes in it must fit the address of a socket.
  const temporary = await mkdtemp(join(tmpdir(), 'hw-'));
  try {
    const script = `
      import { runProgram } from ${JSON.stringify(PROGRAM)};
      const never = new Promise(() => {});
      await runProgram(async ({ cleanup, useScratch }) => {
        await useScratch();
        ${first}
        const timer = setInterval(() => {}, 1000);
        cleanup.add('the timer', () => clearInterval(timer));
        process.stdout.write('ready');
        await never;
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const ended = once(child, 'close');
    await Promise.race([once(child.stdout, 'data'), ended]);
    expect(child.exitCode, stderr).toBeNull();
    expect(await readdir(temporary)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended, stderr).toEqual([130, null]);
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
});

test('names a full disk in one line', async () => {
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { runProgram } from ${JSON.stringify(PROGRAM)};
    await runProgram(() => writeFile('/dev/full', 'a'));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(stderr).toMatch(/^hopwise: ENOSPC.*: make room, then give the same command again\n$/);
});
