/** Pinned pages that are open while the machine changes to another network. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PROTO } from '../../support/server.ts';
import type { NetworkChange } from './support/network-change.ts';

const PROGRAM = fileURLToPath(new URL('./support/network-change.ts', import.meta.url));
/** Two checks of connections, 2 s apart, and as much again for a busy machine. Unanswered data would take 20 s. */
const LIMIT_MS = 8_000;

it.each(['h1', 'h2', 'h3'] as const)('over %s they go on from the new address', async (protocol) => {
  const command = [process.execPath, '--conditions=source', PROGRAM, protocol];
  const { stdout } = await promisify(execFile)('unshare', ['--map-root-user', '--net', ...command]);
  const change = JSON.parse(stdout) as NetworkChange;
  expect(change).toMatchObject({ statuses: [200, 200], proto: PROTO[protocol], lifted: [] });
  expect(change.client).toMatch(/^10\.77\.0\.3:/);
  expect(change.tookMs).toBeLessThan(LIMIT_MS);
});
