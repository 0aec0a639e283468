import { spawnSync } from 'node:child_process';

/**
 * Compares Debian's package versions as dpkg does: negative when `a` is older than `b`, positive when it is newer, 0 when they are
 * equal or where there is no dpkg.
 */
export function compareDebianVersions(a: string, b: string): number {
  const holds = (relation: string): boolean =>
    spawnSync('dpkg', ['--compare-versions', a, relation, b]).status === 0;
  if (holds('lt')) return -1;
  return holds('gt') ? 1 : 0;
}
