import { DAY_MS } from '@hopwise/contract';
import type { Entry, Har } from './schema.ts';
import { lengthOf } from './values.ts';

/**
 * Leaves out the phases of requests that seem to have come to their answer in more than a day: browsers give up within minutes, and a proxy that missed when
 * a phase began counts it from the zero of its clock (BrowserMob Proxy). Such a request took what its other phases did. A body may go on
 * for days.
 */
export function withoutEndlessPhases(log: Har): Har {
  return { ...log, entries: log.entries.map(withoutEndless) };
}

function withoutEndless(entry: Entry): Entry {
  const { blocked, dns, connect, send, wait, receive } = entry.timings ?? {};
  const before = [blocked, dns, connect, send, wait].map(lengthOf);
  const possible = before.filter((ms) => ms <= DAY_MS);
  if (possible.length === before.length) return entry;
  const time = possible.reduce((sum, ms) => sum + ms, lengthOf(receive));
  return { ...entry, time, timings: null };
}
