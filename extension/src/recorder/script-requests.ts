import type { ScriptRequestKind } from './hook-channel.ts';
import { MAX_ENTRIES, MAX_SCRIPT_REQUEST_CHARS, MAX_TEXT_CHARS } from './limits.ts';
import type { ScriptRequest } from './page-timings.ts';

const KINDS: readonly string[] = ['fetch', 'xhr', 'src', 'srcset'] satisfies ScriptRequestKind[];
const MAX_SCRIPTS = 10;

/** The script requests of a frame, limited to what fits into one message to the worker. */
export class ScriptRequestLog {
  readonly requests: ScriptRequest[] = [];
  #charsLeft = MAX_SCRIPT_REQUEST_CHARS;

  get isFull(): boolean {
    return this.requests.length === MAX_ENTRIES || this.#charsLeft < 0;
  }

  /** Adds the requests in a message of the hook (see `readScriptRequests`). */
  addMessage(message: unknown, baseUrl: string, atMs: number): void {
    for (const request of readScriptRequests(message, baseUrl, atMs)) {
      this.#charsLeft -= request.scripts.reduce((sum, url) => sum + url.length, request.url.length);
      if (this.isFull) return;
      this.requests.push(request);
    }
  }
}

/**
 * Reads one message of the hook.
 *
 * @param message `kind\nurl\nstack`
 * @param baseUrl base of relative URLs
 * @returns one request for each URL that may be fetched (a `srcset` names several); none for a
 *   malformed message and for URLs that are not fetched over HTTP
 */
export function readScriptRequests(message: unknown, baseUrl: string, atMs: number): ScriptRequest[] {
  if (typeof message !== 'string' || message.length > 3 * MAX_TEXT_CHARS) return [];
  const [kind, target, ...stack] = message.split('\n');
  if (!kind || !target || !KINDS.includes(kind)) return [];
  const scripts = scriptsOnStack(stack);
  const targets = kind === 'srcset' ? srcsetUrls(target) : [target];
  return targets.flatMap((text) => {
    const url = absoluteHttpUrl(text, baseUrl);
    return url ? [{ kind: kind as ScriptRequestKind, url, atMs, scripts }] : [];
  });
}

/**
 * URLs of the scripts in a stack trace, innermost first, each once: both V8's
 * `at name (https://host/a.js:1:2)` and SpiderMonkey's `name@https://host/a.js:1:2`.
 */
function scriptsOnStack(lines: string[]): string[] {
  const found = new Set<string>();
  for (const line of lines) {
    const url = /(https?:\/\/\S+?):\d+(?::\d+)?\)?$/.exec(line)?.[1];
    if (url) found.add(withoutFragment(url));
    if (found.size === MAX_SCRIPTS) break;
  }
  return [...found];
}

/** Candidates of a `srcset`: URL, then optionally a width or density, separated by commas. */
function srcsetUrls(srcset: string): string[] {
  return [...srcset.matchAll(/(?:^|[\s,])([^\s,]\S*[^\s,])(?:\s+[\d.]+[wx])?\s*(?=,|$)/g)].map((m) => m[1]!);
}

function absoluteHttpUrl(text: string, baseUrl: string): string | null {
  if (!URL.canParse(text, baseUrl)) return null;
  const url = new URL(text, baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const absolute = withoutFragment(url.href);
  // Percent-encoding can make a URL up to nine times as long as its source text.
  return absolute.length <= MAX_TEXT_CHARS ? absolute : null;
}

export function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? url : url.slice(0, hash);
}
