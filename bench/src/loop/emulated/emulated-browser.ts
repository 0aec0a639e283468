/** What a Chromium knows of servers, and the pins that it loads pages with. */
import { type Assignment, EVERY_ORIGIN, MINUTE_MS, type PinState, type Protocol } from '@hopwise/contract';
import type { Pinner } from '../../../../extension/src/autopilot/runs/runs.ts';
import { type EveryOrigin, findPort } from '../../../../extension/src/evidence/every-origin.ts';
import type { PinPeriod } from '../../../../extension/src/evidence/pin-period.ts';
import { isMadeAs } from '../../../../extension/src/pins/worker/pin-transaction.ts';

/** How long Chromium takes HTTP/3 for broken at a server that it reached through a proxy (`resetBrokenAlternatives`). */
const BROKEN_MS = 5 * MINUTE_MS;

/**
 * Uses HTTP/3 where an earlier load has shown that a server offers it, and no pin keeps it off. Pins take effect at once. When one is lifted, the
 * browser forgets all offers, or, after a trial, takes HTTP/3 for broken for a while at the servers that had it.
 */
export class EmulatedBrowser implements Pinner {
  readonly isRestored = true;
  readonly #offers = new Set<string>();
  readonly #brokenUntilMs = new Map<string, number>();
  #leftSites: readonly string[] = [];
  #pins: (PinState & { madeAtMs: number })[] = [];
  #listener: () => void = () => undefined;

  /** Protocols of a load that begins now. */
  assign(origins: readonly string[]): Assignment {
    const protocolOf = (origin: string): Protocol => {
      const isBroken = (this.#brokenUntilMs.get(origin) ?? 0) > Date.now();
      return this.#offers.has(origin) && !isBroken && !this.#isPinned(origin) ? 'h3' : 'h2';
    };
    return Object.fromEntries(origins.map((origin) => [origin, protocolOf(origin)]));
  }

  hasPinOn(origins: readonly string[]): boolean {
    return origins.some((origin) => this.#isPinned(origin));
  }

  /** Learns from a load that has ended. @param offering origins of its servers that say that they offer HTTP/3 */
  noteLoad(origins: readonly string[], offering: ReadonlySet<string>): void {
    for (const origin of origins.filter((each) => offering.has(each))) {
      if (!this.#isPinned(origin)) this.#offers.add(origin);
      else if (this.#offers.has(origin)) this.#brokenUntilMs.set(origin, Date.now() + BROKEN_MS);
    }
  }

  /** Ends pins whose time is over, as the helper does. */
  endExpired(): void {
    const isOver = ({ expiresAtMs }: PinState) => expiresAtMs !== null && expiresAtMs <= Date.now();
    if (this.#pins.some(isOver)) this.#remove(isOver);
  }

  /** When its pins have been active, those that still are. */
  get periods(): PinPeriod[] {
    return this.#pins.map(({ origin, kind, madeAtMs }) => ({
      origin,
      kind,
      allowsLocal: false,
      sinceMs: madeAtMs,
      endedMs: null,
      ...(origin === EVERY_ORIGIN && { everyOrigin: this.#everywhere }),
    }));
  }

  async whenRestored(): Promise<void> {}

  async leaveSites(sites: readonly string[]): Promise<void> {
    const isNew = sites.some((site) => !this.#leftSites.includes(site));
    this.#leftSites = sites;
    if (isNew && this.#pins.some(({ origin }) => origin === EVERY_ORIGIN)) this.#forget();
  }

  async listPins(): Promise<PinState[]> {
    return [...this.#pins];
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  async pin(...[wanted, { minutes, persistent }]: Parameters<Pinner['pin']>): Promise<PinState[]> {
    const madeAtMs = Date.now();
    const expiresAtMs = minutes === null ? null : madeAtMs + minutes * MINUTE_MS;
    for (const { origin, kind } of wanted) {
      if (kind !== 'avoid-h3') throw new RangeError(`a pin ${kind} is not emulated`);
      this.#pins = this.#pins.filter((pin) => pin.origin !== origin);
      this.#pins.push({ origin, kind, persistent, expiresAtMs, state: 'active', reason: '', madeAtMs });
    }
    this.#listener();
    return this.#pins;
  }

  async unpinMade(...[pins, lifting]: Parameters<Pinner['unpinMade']>): Promise<PinState[]> {
    this.#remove((pin) => pins.some((each) => isMadeAs(pin, each)), lifting?.keepsAlternatives);
    return this.#pins;
  }

  #isPinned(origin: string): boolean {
    const isEvery = this.#pins.some((pin) => pin.origin === EVERY_ORIGIN);
    return (
      (isEvery && findPort(origin, this.#everywhere) > 0) || this.#pins.some((pin) => pin.origin === origin)
    );
  }

  /** What a pin of every origin covers. */
  get #everywhere(): EveryOrigin {
    return { ports: [1], exceptions: [], leftSites: this.#leftSites };
  }

  #forget(): void {
    this.#offers.clear();
    this.#brokenUntilMs.clear();
  }

  #remove(isRemoved: (pin: PinState) => boolean, keepsAlternatives = false): void {
    const left = this.#pins.filter((pin) => !isRemoved(pin));
    if (left.length === this.#pins.length) return;
    this.#pins = left;
    if (!keepsAlternatives) this.#forget();
    this.#listener();
  }
}
