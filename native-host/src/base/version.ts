import { readFileSync } from 'node:fs';

/** The version of the host's package. */
export function hostVersion(): string {
  // The sources lie two folders below the package, the build three.
  const up = import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json';
  return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version;
}
