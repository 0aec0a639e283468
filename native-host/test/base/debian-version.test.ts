import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { compareDebianVersions } from '../../src/base/debian-version.ts';

const test = it.skipIf(spawnSync('dpkg', ['--version']).error !== undefined);

test.each([
  ['8.14.1-2~bpo12+1', '8.14.1-2'],
  ['8.14.1-2~bpo12+1', '8.14.1-2+deb13u2~bpo12+1'],
  ['8.14.1-2+deb13u2~bpo12+1', '8.14.1-2+deb13u10~bpo12+1'],
  ['8.9.0-1', '8.14.1-2'],
  ['8.14.1-2', '8.15.0~rc2-1'],
  ['8.15.0~rc2-1', '8.15.0-1'],
  ['1.0~~', '1.0~'],
  ['1.0a', '1.0+'],
  ['9.0-1', '1:1.0-1'],
  ['1.2', '1.2-1'],
])('%s is older than %s', (older, newer) => {
  expect(compareDebianVersions(older, newer)).toBeLessThan(0);
  expect(compareDebianVersions(newer, older)).toBeGreaterThan(0);
  expect(compareDebianVersions(older, older)).toBe(0);
});

test('ignores leading zeros', () => {
  expect(compareDebianVersions('1.007-1', '1.7-1')).toBe(0);
});
