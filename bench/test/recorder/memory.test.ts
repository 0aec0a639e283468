import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readMemory } from '../../src/recorder/memory.ts';

/** Fills 100 MB, says so, and waits for the end of its input. */
const FILL =
  "const filled = Buffer.alloc(100 * 2 ** 20, 1); console.log('done'); process.stdin.resume(); globalThis.filled = filled;";

test('the memory of a process is what it has filled and some more, in megabytes', async () => {
  const child = spawn(process.execPath, ['-e', FILL], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const memory = readMemory(child.pid!);
    expect(memory).toMatchObject({ pages: 0, extension: 0, helper: 0 });
    expect(memory.browser).toBeGreaterThan(100);
    expect(memory.browser).toBeLessThan(250);
  } finally {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  }
});

test('a process that has ended has none', () => {
  expect(readMemory(2 ** 22 + 1)).toEqual({ browser: 0, pages: 0, extension: 0, helper: 0 });
});
