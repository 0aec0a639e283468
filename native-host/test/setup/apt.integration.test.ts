/** The real apt of a Debian machine, which is asked for its sources only: no package server is asked. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { canSetUp, osRelease } from '../../src/base/install-hints.ts';
import { BackportsApt } from '../../src/setup/apt.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-apt-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

it.skipIf(!canSetUp())('finds the mirror on a machine that has no package lists yet', async () => {
  const lists = mkdtempSync(join(folder, 'none-'));
  const configuration = join(folder, 'apt.conf');
  writeFileSync(configuration, `Dir::State::lists "${lists}";\n`);
  vi.stubEnv('APT_CONFIG', configuration);
  const work = mkdtempSync(join(folder, 'work-'));
  const opened = BackportsApt.open({ suite: osRelease().codename, folder: work, log: () => {} });
  await expect(opened).resolves.toBeInstanceOf(BackportsApt);
});
