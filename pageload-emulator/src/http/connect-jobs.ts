/** Chromium and Firefox: TCP connections to one host (Chromium's `g_max_sockets_per_group`). */
export const MAX_CONNECTIONS_PER_HOST = 6;

/** Chromium opens a second connection to a host when the first has no answer after this (`ClientSocketPool`, `kMaxConnectRetryIntervalMs`). */
const BACKUP_AFTER_MS = 250;

/**
 * When a browser looks whether a host's first connection needs a backup, from when it asked for the host: while the
 * name is being resolved, it looks again later.
 */
export function backupAfterMs(dnsMs: number): number {
  return BACKUP_AFTER_MS * (Math.floor(dnsMs / BACKUP_AFTER_MS) + 1);
}
