import type { AskKind } from './hook-channel.ts';
import { MAX_ASKS_TEXT, MAX_ENTRIES, MAX_TEXT } from './limits.ts';
import type { Ask } from './page-timings.ts';

const KINDS: readonly string[] = ['fetch', 'xhr', 'src', 'srcset'] satisfies AskKind[];
const MAX_SCRIPTS = 10;

/** The asks of a frame, as many as fit into one message to the worker. */
export class AskList {
  readonly asks: Ask[] = [];
  #textLeft = MAX_ASKS_TEXT;

  get full(): boolean {
    return this.asks.length === MAX_ENTRIES || this.#textLeft < 0;
  }

  /** Adds what a message of the hook asks for (see `readAsks`). */
  add(message: unknown, baseUrl: string, atMs: number): void {
    for (const ask of readAsks(message, baseUrl, atMs)) {
      this.#textLeft -= ask.scripts.reduce((sum, url) => sum + url.length, ask.url.length);
      if (this.full) return;
      this.asks.push(ask);
    }
  }
}

/**
 * Reads one message of the hook.
 *
 * @param message `kind\nurl\nstack`
 * @param baseUrl what a relative URL is relative to
 * @returns one ask for each URL that may be fetched (a `srcset` names several); none for a
 *   message that is not the hook's or URLs that are not fetched over HTTP
 */
export function readAsks(message: unknown, baseUrl: string, atMs: number): Ask[] {
  if (typeof message !== 'string' || message.length > 3 * MAX_TEXT) return [];
  const [kind, target, ...stack] = message.split('\n');
  if (!kind || !target || !KINDS.includes(kind)) return [];
  const scripts = scriptsOnStack(stack);
  const targets = kind === 'srcset' ? srcsetUrls(target) : [target];
  return targets.flatMap((text) => {
    const url = absoluteHttpUrl(text, baseUrl);
    return url ? [{ kind: kind as AskKind, url, atMs, scripts }] : [];
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
  const whole = withoutFragment(url.href);
  // Escapes make a URL up to nine times as long as its text.
  return whole.length <= MAX_TEXT ? whole : null;
}

export function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? url : url.slice(0, hash);
}
