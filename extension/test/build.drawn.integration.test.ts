/** Browsers run the extension from the folders of the build, also while it is made again. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));
const BUILDS = ['chromium', 'firefox'].map((name) => join(packageRoot, 'dist', name));

/** Numbers of the files' inodes: a file that is written again has another. */
const listFiles = () =>
  BUILDS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
      const { ino } = statSync(join(folder, name));
      return `${join(folder, name)} ${ino}`;
    }),
  ).toSorted();

test('a build of the same sources leaves every file as it is, and takes away what is no part of it', () => {
  const before = listFiles();
  const stray = join(BUILDS[0]!, 'no-part-of-it.txt');
  writeFileSync(stray, '');
  execFileSync(process.execPath, ['build.mjs'], { cwd: packageRoot, stdio: 'inherit' });
  expect(existsSync(stray)).toBe(false);
  expect(listFiles()).toEqual(before);
});
