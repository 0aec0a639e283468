/** npm packages for helper packages, as `package-lock.json` pins them. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface LockedPackage {
  version: string;
  integrity?: string;
  dependencies?: Record<string, string>;
}

export type Lock = Record<string, LockedPackage>;

export function readLock(root: string): Lock {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
}

/**
 * Names of the packages that `name` needs at run time, without optional ones and without itself, sorted.
 *
 * @throws Error for a package that is not at the top of `node_modules`: a copy of the top alone would lack it
 */
export function runtimeDependencies(lock: Lock, folder: string): string[] {
  const found = new Set<string>();
  const add = (from: string): void => {
    for (const name of Object.keys(lock[from]?.dependencies ?? {})) {
      if (found.has(name)) continue;
      const path = `node_modules/${name}`;
      if (!lock[path] || lock[`${from}/${path}`])
        throw new Error(`${from}: expected ${name} in node_modules`);
      found.add(name);
      add(name.startsWith('@hopwise/') ? name.slice('@hopwise/'.length) : path);
    }
  };
  add(folder);
  return [...found].sort();
}

/**
 * Downloads a package of the lock file, such as one for another machine, and unpacks it.
 *
 * @returns its folder in `cache`
 * @throws Error in one line when the download differs from the lock file's hash
 */
export async function fetchPackage(lock: Lock, name: string, cache: string): Promise<string> {
  const locked = lock[`node_modules/${name}`];
  if (!locked?.integrity) throw new Error(`package-lock.json: expected a hash of ${name}`);
  const folder = join(cache, `${name.replace('/', '-')}-${locked.version}`);
  if (existsSync(join(folder, 'package'))) return join(folder, 'package');
  await mkdir(folder, { recursive: true });
  const words = ['pack', `${name}@${locked.version}`, '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', [...words, '--loglevel=error']);
  // A list, or by package in later versions of npm.
  const [answer] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
  const file = join(folder, answer!.filename);
  const hash = createHash('sha512')
    .update(await readFile(file))
    .digest('base64');
  if (`sha512-${hash}` !== locked.integrity)
    throw new Error(`${file}: expected ${locked.integrity}, found sha512-${hash}`);
  await run('tar', ['-xzf', file, '-C', folder]);
  return join(folder, 'package');
}
