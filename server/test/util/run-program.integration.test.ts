import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ProgramKilled, runProgram } from '../../src/util/run-program.ts';

const SPAWN_OFTEN = fileURLToPath(new URL('../support/spawn-often-main.ts', import.meta.url));

test('says why a program failed, and distinguishes one that was ended by a signal', async () => {
  expect(await runProgram(['cat'], 'in\n')).toBe('in\n');
  const fails = runProgram(['sh', '-c', 'echo first >&2; echo second >&2; exit 3']);
  await expect(fails).rejects.toThrow('exit 3: first');
  await expect(runProgram(['sh', '-c', 'exit 3'])).rejects.toThrow('ended by 3');
  await expect(runProgram(['hopwise-no-such-program'])).rejects.toThrow('ENOENT');
  const killed = runProgram(['sh', '-c', 'kill -TERM $$']);
  await expect(killed).rejects.toThrow(ProgramKilled);
  await expect(killed).rejects.toThrow('ended by SIGTERM');
});

test('a signal to the group reaches a program that has not left it yet, which shows as such', async () => {
  const child = spawn(process.execPath, ['--conditions=source', SPAWN_OFTEN], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await once(lines, 'line');
  while (said.length < 2 && child.exitCode === null) {
    for (let count = 0; count < 100; count++) process.kill(-child.pid!, 'SIGINT');
    // Without a pause the child may do nothing but take signals.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await ended;
  expect(said).toEqual(['ready', 'killed']);
});
