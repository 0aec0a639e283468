import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/util/run-program.ts';

const MAIN = fileURLToPath(new URL('../support/routes-main.ts', import.meta.url));

test('routes outlive a link that goes down and up, and a change that the kernel refuses', async () => {
  const alone = ['unshare', '--map-root-user', '--net'];
  const steps = JSON.parse(await runProgram([...alone, process.execPath, '--conditions=source', MAIN]));
  const both = ['10.1.1.0/24', '2001:db8:1::/48'];
  const set = { returned: both, kernel: both, said: 0 };
  const none = { returned: [], kernel: [], said: 0 };
  expect(steps).toEqual({
    first: set,
    down: none,
    up: set,
    'down and up between two looks': set,
    // Said once.
    'a change that fails': { ...none, said: 1 },
    'and fails again': none,
    'and then not': set,
    'after the end': none,
  });
});
