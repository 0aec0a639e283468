/** The response headers that a recorded page is replayed with. */

/**
 * Headers that are not kept: those that the replay server sets itself, those that would hide timings from the page's own
 * measurement, those that make the browser send reports or repeat requests, and a proxy's own.
 */
const DROPPED = new Set([
  ...['alt-svc', 'connection', 'content-length', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'content-range', 'timing-allow-origin'],
  ...['nel', 'report-to', 'reporting-endpoints', 'expect-ct', 'public-key-pins', 'critical-ch'],
  ...['proxy-authenticate', 'authentication-info'],
  // Ages are relative to the recording: they become a max-age.
  ...['date', 'age', 'expires'],
]);

/** Names commonly used for headers with secrets. */
const SECRET =
  /token|secret|session|csrf|xsrf|api[-_]?key|cookie|jwt|passw|authori[sz]ation|authentication|(^|[-_])auth([-_]|$)/;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Bytes: HTTP stacks refuse header sections of more than about 64 KiB in all. */
const MAX_VALUE_BYTES = 16_384;
const MAX_ALL_BYTES = 49_152;
/** Fraction of the time since the last change during which a cache treats an answer as fresh (RFC 9111, section 4.2.2). */
const HEURISTIC_FRACTION = 0.1;

interface KeptHeaders {
  headers: Record<string, string>;
  /** Headers left out for their size or as secrets, including `set-cookie`. */
  notes: string[];
}

/** Filters `recorded`, in order; equal names are joined (RFC 9110, section 5.2). */
export function keptHeaders(recorded: { name: string; value: string }[]): KeptHeaders {
  const all = new Map<string, string>();
  for (const { name, value } of recorded) {
    const key = name.toLowerCase();
    const before = all.get(key);
    all.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  const headers: Record<string, string> = Object.create(null);
  const notes: string[] = [];
  let total = 0;
  for (const [name, raw] of all) {
    if (SECRET.test(name)) notes.push(`header ${name.slice(0, 60)} left out as a secret`);
    if (SECRET.test(name) || DROPPED.has(name) || !NAME.test(name)) continue;
    const value = raw.replace(/[\r\n\0]+/g, ' ');
    const bytes = name.length + Buffer.byteLength(value);
    if (bytes > MAX_VALUE_BYTES || total + bytes > MAX_ALL_BYTES) {
      notes.push(`header ${name.slice(0, 60)} of ${bytes} bytes left out`);
      continue;
    }
    total += bytes;
    headers[name] = value;
  }
  if (headers['cache-control'] === undefined) headers['cache-control'] = freshness(all);
  return { headers: { ...headers }, notes };
}

/** `Expires` and a cache's heuristic freshness as `Cache-Control`. */
function freshness(all: Map<string, string>): string {
  const date = Date.parse(all.get('date') ?? '');
  const expires = all.get('expires');
  const seconds =
    expires !== undefined
      ? (Date.parse(expires) - date) / 1000
      : ((date - Date.parse(all.get('last-modified') ?? '')) / 1000) * HEURISTIC_FRACTION;
  return seconds > 0 ? `max-age=${Math.round(seconds)}` : 'no-cache';
}
