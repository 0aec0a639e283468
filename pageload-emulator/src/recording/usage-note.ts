import type { Recording } from '@hopwise/contract';
import type { UnusableEntries } from './har/schema.ts';
import { loadRequests } from './load-requests.ts';

/** Entries of a file that are not in its recording. */
export interface DroppedEntries {
  unusable: UnusableEntries;
  /** Equal to an entry before them. */
  copies: number;
  /** Tunnels of proxies, and the browser's own checks of the network. */
  notOfPages: number;
  otherPages: number;
  beforeNavigation: number;
  /** After the silence that ends a load without a load event, or the day that a set of transfers may last. */
  afterEnd: number;
  /** Neither `http:` nor `https:`. */
  otherSchemes: number;
}

/**
 * Reports in one sentence how many of a file's requests a prediction uses, and why it leaves out the others: "used 26 of
 * 917 requests: 880 began after the load event, 11 belonged to other pages".
 *
 * @returns null when all are used
 */
export function usageNote(recording: Recording, dropped: DroppedEntries): string | null {
  const { kept, excluded } = loadRequests(recording);
  const { unusable, copies, notOfPages, otherPages, beforeNavigation, afterEnd, otherSchemes } = dropped;
  const afterLoad =
    recording.pltMs === null ? 'began after all that a load event waits for' : 'began after the load event';
  const afterEndWords =
    recording.missing === 'navigation'
      ? 'began over a day after the first'
      : 'began after all had been silent';
  const reasons = [
    { count: unusable.count, why: `could not be read (${unusable.first?.message})` },
    { count: copies, why: copies === 1 ? 'was a copy of another' : 'were copies of others' },
    { count: notOfPages, why: "belonged to no page (a proxy's tunnels, the browser's own checks)" },
    { count: otherPages, why: 'belonged to other pages' },
    { count: beforeNavigation, why: 'began before the navigation' },
    { count: afterEnd, why: afterEndWords },
    { count: otherSchemes, why: 'had no http or https URL' },
    { count: excluded['after-load'], why: afterLoad },
    { count: excluded.socket, why: excluded.socket === 1 ? 'was a WebSocket' : 'were WebSockets' },
    { count: excluded.cached, why: 'came from the cache' },
    { count: excluded.failed, why: 'failed without an answer' },
  ].filter(({ count }) => count > 0);
  if (reasons.length === 0) return null;
  reasons.sort((a, b) => b.count - a.count);
  const total = reasons.reduce((sum, { count }) => sum + count, kept.length);
  return `used ${kept.length} of ${total} requests: ${reasons.map(({ count, why }) => `${count} ${why}`).join(', ')}`;
}
