/** A question estimates the network once: that is much of the time of a prediction. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { chromiumHar } from '../support/hars.ts';

const ESTIMATE = '../../src/estimate/estimate-network.ts';
const estimated = vi.fn();
let dir = '';
let hopwise: (args: readonly string[]) => Promise<{ status: number; stderr: string }>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-estimate-'));
  writeFileSync(join(dir, 'page.har'), JSON.stringify(chromiumHar()));
  // Earlier test files may have loaded the library without the spy.
  vi.resetModules();
  vi.doMock(ESTIMATE, async (importOriginal) => {
    const original = await importOriginal<typeof import('../../src/estimate/estimate-network.ts')>();
    const estimateNetwork: typeof original.estimateNetwork = (recording) => {
      estimated();
      return original.estimateNetwork(recording);
    };
    return { ...original, estimateNetwork };
  });
  ({ hopwise } = await import('../support/hopwise.ts'));
});
beforeEach(() => {
  estimated.mockClear();
});
afterAll(() => {
  vi.doUnmock(ESTIMATE);
  vi.resetModules();
  rmSync(dir, { recursive: true });
});

it.each([
  ['predict', []],
  ['predict', ['--queue', '50']],
  ['predict', ['--model', 'econ', '--queue', '50']],
  ['explain', ['--queue', '50']],
  ['predict', ['--learn', '--queue', '50', '--cluster', 'cluster.json']],
])('is done once by %s %j', async (command, flags) => {
  const words = [command, 'page.har', ...flags].map((word) =>
    /\.(har|json)$/.test(word) ? join(dir, word) : word,
  );
  expect(await hopwise(words)).toMatchObject({ status: 0 });
  expect(estimated).toHaveBeenCalledTimes(1);
});
