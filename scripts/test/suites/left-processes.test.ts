import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endLeftProcesses } from '../../suites/left-processes.ts';

test('what was started with a folder for temporary files is ended, and nothing else', async () => {
  const temporary = `/nowhere/${process.pid}`;
  const start = (folder: string) =>
    spawn('sleep', ['60'], { env: { PATH: process.env.PATH, TMPDIR: folder }, detached: true });
  const left = start(temporary);
  const other = start(`${temporary}-other`);
  await Promise.all([once(left, 'spawn'), once(other, 'spawn')]);
  const ended = once(left, 'exit');
  expect(await endLeftProcesses(temporary)).toBe(1);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(other.exitCode ?? other.signalCode).toBeNull();
  other.kill();
  expect(await endLeftProcesses(temporary)).toBe(0);
});
