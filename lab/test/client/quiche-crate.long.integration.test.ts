import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { quicheObstacle } from '../../src/client/build-quiche.ts';
import { ROOT } from '../../src/paths.ts';

const obstacle = await quicheObstacle();
if (obstacle) console.warn(`Skipping the tests of the server on quiche: ${obstacle}`);

// The first run compiles for minutes.
test.skipIf(obstacle)('the server on quiche passes its own tests', { timeout: 1_800_000 }, async () => {
  const { stdout } = await promisify(execFile)('cargo', ['test', '--release', '--locked'], {
    cwd: join(ROOT, 'lab/quiche'),
    maxBuffer: 64 << 20,
  });
  const outcomes = [...stdout.matchAll(/^test result: ok\. (\d+) passed; 0 failed/gm)];
  expect(outcomes.map(([, passed]) => Number(passed) > 0)).toEqual([true, true]);
});
