import { execFile } from 'node:child_process';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Release } from './release.ts';

const run = promisify(execFile);

/** Packs a folder by npm, with the release's date for all files. @returns the path of the package */
export async function packNpm(folder: string, target: string, { epochSeconds }: Release): Promise<string> {
  await mkdir(target, { recursive: true });
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), epochSeconds, epochSeconds);
  }
  const words = ['pack', '--json', '--pack-destination', target, '--loglevel=error'];
  const { stdout } = await run('npm', words, { cwd: folder });
  // A list, or by package in later versions of npm.
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
  return join(target, packed!.filename);
}
