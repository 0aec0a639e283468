import { TRUST_TRIAL_PORT } from '@hopwise/contract';

/** The helper answers on this machine, at once. */
const TRIAL_LIMIT_MS = 10_000;
/** The browser may take new proxy settings up only after it has begun to ask, which then leads nowhere. */
const RETRY_AFTER_MS = [100, 500, 2000];

export interface TrustTrialsOptions {
  /** The host's trial is over; the helper still waits for it. */
  onInVain(): void;
  ask?: (url: string) => Promise<unknown>;
}

/**
 * Has the browser ask, through the helper's proxy, for pages of the helper's own that bear the certificate of the local CA: by that
 * the helper learns whether the browser trusts it. What came of it is the helper's to say. One trial a host, and one more whenever
 * the person pins it.
 */
export class TrustTrials {
  readonly #options: TrustTrialsOptions;
  #wanted: ReadonlySet<string> = new Set();
  readonly #running = new Set<string>();
  readonly #tried = new Set<string>();
  /** Raised when all begins anew: what is under way then counts no more. */
  #session = 0;

  constructor(options: TrustTrialsOptions) {
    this.#options = options;
  }

  /** @param hosts of which the helper waits for a trial */
  want(hosts: readonly string[]): void {
    this.#wanted = new Set(hosts);
  }

  /** Origins that have to lead to the proxy: only while they are asked for, as a page could tell by them that a host is pinned. */
  origins(): string[] {
    return [...this.#wanted].filter((host) => !this.#tried.has(host)).map(trialOrigin);
  }

  /** Begins what is due, once the origins lead to the proxy. */
  start(): void {
    for (const host of this.#wanted) {
      if (this.#tried.has(host) || this.#running.has(host)) continue;
      this.#running.add(host);
      void this.#try(host);
    }
  }

  /** The person wants to know anew. */
  again(host: string): void {
    this.#tried.delete(host);
  }

  /** The helper has gone. */
  end(): void {
    this.#session += 1;
    this.#wanted = new Set();
    this.#running.clear();
    this.#tried.clear();
  }

  async #try(host: string): Promise<void> {
    const session = this.#session;
    const ask = this.#options.ask ?? askInBrowser;
    const isDue = () => session === this.#session && this.#wanted.has(host);
    for (const pauseMs of [0, ...RETRY_AFTER_MS]) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (!isDue()) break;
      // Whether it succeeded, and what was wrong if not, the helper knows.
      const isAnswered = await ask(`${trialOrigin(host)}/`).then(
        () => true,
        () => false,
      );
      if (isAnswered) break;
    }
    if (session !== this.#session) return;
    this.#running.delete(host);
    this.#tried.add(host);
    if (this.#wanted.has(host)) this.#options.onInVain();
  }
}

function trialOrigin(host: string): string {
  return `https://${host}:${TRUST_TRIAL_PORT}`;
}

function askInBrowser(url: string): Promise<unknown> {
  return fetch(url, {
    mode: 'no-cors',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(TRIAL_LIMIT_MS),
  });
}
