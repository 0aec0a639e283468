import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import { allGone, descendants, firstLine, parentOf } from '../support/lab-processes.ts';
import { writeTinySite } from '../support/lab-site.ts';
import { LINK } from '../support/lab-transfers.ts';

const obstacle = await labObstacle();

describe.skipIf(obstacle)('a lab that was killed', () => {
  let site: string;
  let temporary: string;

  beforeAll(async () => {
    site = await writeTinySite();
    // Any other lab that starts there would remove what the killed one leaves.
    temporary = await mkdtemp(join(tmpdir(), 'hopwise-lab-test-'));
    vi.stubEnv('TMPDIR', temporary);
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(site, { recursive: true, force: true });
    await rm(temporary, { recursive: true, force: true });
  });

  test.each(['its owner', 'its owner and then itself'])(
    'with %s leaves only leftovers that the next lab removes',
    async (which) => {
      const module = new URL('../../src/client/lab.ts', import.meta.url).href;
      const script = `import { Lab } from ${JSON.stringify(module)};
      const lab = await Lab.up(${JSON.stringify({ site, network: LINK })});
      console.log(JSON.stringify(lab.facts));
      setInterval(() => {}, 1000);`;
      const owner = spawn(process.execPath, ['--conditions=source', '--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const { holderPid, caFile } = await firstLine(owner);
        const folder = join(caFile, '..');
        const program = await parentOf(holderPid);
        const family = [program, ...descendants(program)];
        expect(family.length).toBeGreaterThanOrEqual(3);
        const ended = once(owner, 'exit');
        owner.kill('SIGKILL');
        if (which !== 'its owner') process.kill(program, 'SIGKILL');
        await ended;
        await allGone(family);
        expect(existsSync(folder)).toBe(true);
        await (await Lab.up({ site, network: LINK })).down();
        expect(existsSync(folder)).toBe(false);
      } finally {
        owner.kill('SIGKILL');
      }
    },
  );
});
