import type { InitiatorKind } from '@hopwise/contract';
import type { Entry } from './schema.ts';
import { scriptsOf } from './stack-scripts.ts';
import { urlKey } from './urls.ts';
import { objectOf } from './values.ts';

/** What an entry states about its initiator. */
export interface AskedFor {
  /** Null when not stated. */
  kind: InitiatorKind | null;
  /** URLs of initiators: those of the stack, innermost first. */
  urls: Iterable<string>;
  /** `_requestId` of the request that led to it (a preflight's). */
  requestId: string | null;
  /** Whether the browser itself made the request: for an icon, a manifest, a preload in a header. */
  byBrowser: boolean;
}

const KINDS = new Map<string, InitiatorKind>([
  ['parser', 'parser'],
  ['script', 'script'],
  ['preload', 'preload'],
  ['preflight', 'script'],
  ['signedexchange', 'parser'],
]);

/** Reads the initiator: Chromium's object, or the URL string of WebPageTest and chrome-har with its `_initiator_detail`. */
export function askedForBy(entry: Entry): AskedFor {
  const detail = objectOf(entry._initiator) ?? objectOf(jsonOf(entry._initiator_detail));
  const plain = typeof entry._initiator === 'string' && entry._initiator !== '' ? entry._initiator : null;
  const type = typeof detail?.type === 'string' ? detail.type : entry._initiator_type;
  const isPreload = entry._isLinkPreload === true || entry.request._isLinkPreload === true;
  const urls = new Set<string>();
  if (plain !== null) urls.add(plain);
  if (typeof detail?.url === 'string' && detail.url !== '') urls.add(detail.url);
  for (const url of scriptsOf(detail?.stack)) urls.add(url);
  const said = KINDS.get(type?.toLowerCase() ?? '') ?? null;
  return {
    // WebPageTest names the initiator of requests that the parser found, without a type.
    kind: isPreload ? 'preload' : (said ?? (plain !== null && !type ? 'parser' : null)),
    urls,
    requestId: typeof detail?.requestId === 'string' ? detail.requestId : null,
    byBrowser: /^other$/i.test(type ?? '') && urls.size === 0,
  };
}

/**
 * Whether scripts of a page alone led to a request: not one that a test drives it with (WebDriver, Puppeteer), which has a URL of another scheme
 * or none, nor an extension's.
 *
 * @param own keys of URLs of the page's requests, see `urlKey`
 */
export function isByOwnScripts({ kind, urls }: AskedFor, own: ReadonlySet<string>): boolean {
  const all = [...urls];
  return kind === 'script' && all.length > 0 && all.every((url) => own.has(urlKey(url)));
}

function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    // A detail that is not JSON is ignored; the initiator's URL is in another field.
    return null;
  }
}
