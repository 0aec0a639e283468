/** Version and date of a release: the version is that of the root `package.json`, the date that of its entry in `CHANGELOG.md`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
