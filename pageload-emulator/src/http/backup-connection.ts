/** Chromium opens a second connection to a host when the first has no answer after this (`ClientSocketPool`, `kMaxConnectRetryIntervalMs`). */
const BACKUP_AFTER_MS = 250;

/**
 * When a browser checks whether a host's first connection needs a backup, milliseconds after it asked for the host. While
 * the name is being resolved, the check is repeated at the same interval.
 *
 * @param dnsMs how long the name takes to resolve
 */
export function backupAfterMs(dnsMs: number): number {
  return BACKUP_AFTER_MS * (Math.floor(dnsMs / BACKUP_AFTER_MS) + 1);
}
