/** Requests that the replayed site has no resource for. */
import type { LabLog } from '../client/lab.ts';

export interface Miss {
  method: string;
  url: string;
  count: number;
}

/** The misses of a log, in order of their first request. */
export function missesOf(log: Pick<LabLog, 'entries'>): Miss[] {
  const misses = new Map<string, Miss>();
  for (const { miss, method, origin, path } of log.entries) {
    if (!miss) continue;
    const url = origin + path;
    const known = misses.get(`${method} ${url}`);
    if (known) known.count++;
    else misses.set(`${method} ${url}`, { method, url, count: 1 });
  }
  return [...misses.values()];
}
