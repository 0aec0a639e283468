/**
 * What is released: the version of the root `package.json`, with the date of its entry in `CHANGELOG.md`, for these machines.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The machines that the helper's packages for Linux are made for, by Debian's names. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Node's names, as in the packages that hold binaries for one machine. */
export const NODE_ARCHITECTURE: Readonly<Record<Architecture, string>> = { amd64: 'x64', arm64: 'arm64' };

export interface Release {
  version: string;
  /** Midnight of its day, UTC, seconds since 1970: the time stamp of all files in packages. */
  epochSeconds: number;
}

/** @throws Error in one line when the newest entry of the change log is not of this version */
export function readRelease(root: string): Release {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const [, logged, day = ''] = /^## (\S+), (\d{4}-\d\d-\d\d)$/m.exec(changes) ?? [];
  if (logged !== version)
    throw new Error(
      `CHANGELOG.md: expected "## ${version}, YYYY-MM-DD" as its first entry, found ${logged ?? 'none'}`,
    );
  return { version, epochSeconds: Date.parse(day) / 1000 };
}
