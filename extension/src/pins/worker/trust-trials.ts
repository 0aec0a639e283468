import { TRUST_TRIAL_PORT } from '@hopwise/contract';

/** Generous: the helper runs on this machine and answers at once. */
const TRIAL_LIMIT_MS = 10_000;
/** The browser may send the request before it applies the new proxy settings; that request then fails. */
const RETRY_AFTER_MS = [100, 500, 2000];
/** How long after a trial in vain the next one follows; twice as long each further time, at most as long as below. */
const AGAIN_AFTER_MS = 10_000;
const AGAIN_AT_MOST_MS = 5 * 60_000;

interface TrustTrialsOptions {
  /** Other origins are listed than before: a trial has ended while the helper still waits for it, or is due again. */
  onChange(): void;
  ask?: (url: string) => Promise<unknown>;
}

/**
 * Makes the browser request pages that the helper's proxy serves with a certificate of the local CA, which shows the helper
 * whether the browser trusts that CA. The helper reports the outcome. A trial that comes to nothing, as on a machine whose network
 * is just changing, is repeated by time, and each time the user pins the host.
 */
export class TrustTrials {
  readonly #options: TrustTrialsOptions;
  #wanted: ReadonlySet<string> = new Set();
  #token = '';
  readonly #running = new Set<string>();
  /** Hosts whose trial came to nothing, until the next one is due. */
  readonly #tried = new Map<string, ReturnType<typeof setTimeout>>();
  /** How long the last wait for another trial was, by host. */
  readonly #waitsMs = new Map<string, number>();
  /** Increased by `endAll`: trials of former sessions are ignored. */
  #session = 0;

  constructor(options: TrustTrialsOptions) {
    this.#options = options;
  }

  /**
   * @param hosts hosts whose trial the helper is waiting for
   * @param token by which it distinguishes the trials from requests of pages
   */
  setHosts(hosts: readonly string[], token: string): void {
    this.#wanted = new Set(hosts);
    this.#token = token;
    for (const host of this.#waitsMs.keys()) if (!this.#wanted.has(host)) this.allowRetry(host);
  }

  /** Origins to route to the proxy. Only while their trial runs: otherwise a page could detect by them that a host is pinned. */
  listOrigins(): string[] {
    return [...this.#wanted].filter((host) => !this.#tried.has(host)).map(toTrialOrigin);
  }

  /** Starts the trials that are due. Call it once the origins are routed to the proxy. */
  startDue(): void {
    for (const host of this.#wanted) {
      if (this.#tried.has(host) || this.#running.has(host)) continue;
      this.#running.add(host);
      void this.#try(host);
    }
  }

  /** Permits another trial of a host at once. */
  allowRetry(host: string): void {
    clearTimeout(this.#tried.get(host));
    this.#tried.delete(host);
    this.#waitsMs.delete(host);
  }

  /** Ends all trials, because the helper has ended. */
  endAll(): void {
    this.#session += 1;
    this.#wanted = new Set();
    this.#running.clear();
    for (const host of this.#waitsMs.keys()) this.allowRetry(host);
  }

  async #try(host: string): Promise<void> {
    const session = this.#session;
    const ask = this.#options.ask ?? sendRequest;
    const isDue = () => session === this.#session && this.#wanted.has(host);
    for (const pauseMs of [0, ...RETRY_AFTER_MS]) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (!isDue()) break;
      // Any answer ends the trial: the helper knows whether it succeeded.
      const isAnswered = await ask(`${toTrialOrigin(host)}/${this.#token}`).then(
        () => true,
        () => false,
      );
      if (isAnswered) break;
    }
    if (session !== this.#session) return;
    this.#running.delete(host);
    if (!this.#wanted.has(host)) return;
    this.#tryLater(host);
    this.#options.onChange();
  }

  #tryLater(host: string): void {
    const waitMs = Math.min(2 * (this.#waitsMs.get(host) ?? AGAIN_AFTER_MS / 2), AGAIN_AT_MOST_MS);
    this.#waitsMs.set(host, waitMs);
    const timer = setTimeout(() => {
      this.#tried.delete(host);
      this.#options.onChange();
    }, waitMs);
    this.#tried.set(host, timer);
  }
}

function toTrialOrigin(host: string): string {
  return `https://${host}:${TRUST_TRIAL_PORT}`;
}

function sendRequest(url: string): Promise<unknown> {
  return fetch(url, {
    mode: 'no-cors',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(TRIAL_LIMIT_MS),
  });
}
