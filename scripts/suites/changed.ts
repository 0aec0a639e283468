/** Which tests a change can break: those of the packages it lies in, and of all that use these. */
import { spawnSync } from 'node:child_process';
import { MAY_IMPORT, TESTS_ALSO_USE } from '../packages.mjs';
import { ROOT, SetupError } from '../setup/programs.mjs';

/** What `npm test -- --changed` runs. */
export interface ChangedTests {
  suites: string[];
  /** Packages whose tests run; `scripts` is among them as a folder of tests. */
  packages: string[];
}

/** Folders of tests: the packages, and the scripts. */
const TESTED = [...Object.keys(MAY_IMPORT), 'scripts'];

const DOCUMENTATION = /\.(md|png|svg)$|^LICENSE$/;

/**
 * Files that differ from a commit, untracked ones included.
 *
 * @throws SetupError if git does not know the commit
 */
export function listChangedFiles(since: string): string[] {
  const git = (...words: string[]): string[] => {
    const { status, stdout, stderr } = spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new SetupError(`--changed ${since}: ${stderr.trim().split('\n')[0]}`);
    return stdout.split('\n').filter(Boolean);
  };
  return [
    ...git('diff', '--name-only', '--no-renames', since, '--'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
}

/** The commit that is checked out, abbreviated; null where there is none. */
export function readCommit(): string | null {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : null;
}

/** @param files from the project's root */
export function selectTests(files: readonly string[]): ChangedTests {
  const suites = new Set(['lint']);
  /** Packages of which the product, or what other packages' tests use, has changed. */
  const touched = new Set<string>();
  /** Packages of which tests alone have changed. */
  const retested = new Set<string>();
  for (const file of files) {
    const [top = '', folder] = file.split('/');
    if (DOCUMENTATION.test(file)) retested.add('scripts');
    else if (file.startsWith('model/python/')) suites.add('python');
    else if (!TESTED.includes(top)) for (const name of TESTED) touched.add(name);
    else if (folder === 'test' && file.endsWith('.test.ts')) retested.add(top);
    else touched.add(top);
    if (file.startsWith('lab/go/')) suites.add('go');
    if (file.startsWith('model/golden/')) suites.add('python');
  }
  const packages = TESTED.filter(
    (name) =>
      [name, ...(MAY_IMPORT[name] ?? []), ...(TESTS_ALSO_USE[name] ?? [])].some((used) =>
        touched.has(used),
      ) || retested.has(name),
  );
  if (packages.length > 0) for (const suite of ['unit', 'integration', 'alone']) suites.add(suite);
  if (packages.includes('e2e')) suites.add('e2e');
  return { suites: [...suites], packages };
}
