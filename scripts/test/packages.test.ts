/** package-lock.json pins everything that an installation brings, Node included. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';

interface Locked {
  version?: string;
  integrity?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}

const lock: Record<string, Locked> = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
).packages;
const fetched = Object.entries(lock).filter(([path, { link }]) => path.includes('node_modules/') && !link);

test('every package that is fetched has its hash', () => {
  expect(fetched.length).toBeGreaterThan(100);
  expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
});

test('no install script runs', () => {
  expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).toBe('ignore-scripts=true\n');
  // Each works without its script: esbuild's makes its start faster, koffi's builds it where no binary is packed.
  expect(fetched.filter(([, one]) => one.hasInstallScript).map(([path]) => path)).toEqual([
    'node_modules/esbuild',
    'node_modules/koffi',
  ]);
});

test('scripts run under the Node that the lock file pins', () => {
  const pinned = lock[`node_modules/node-${process.platform}-${process.arch}`];
  expect(pinned?.version).toMatch(/^24\./);
  const node = join(ROOT, 'node_modules/.bin/node');
  expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toBe(`v${pinned?.version}\n`);
});
