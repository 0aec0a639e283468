/** Which origins are pinned, how, and until when. */
import { MAX_PIN_MINUTES, MAX_PINS, MINUTE_MS, type PinKind, type PinState } from '@hopwise/contract';
import { RequestError } from '../base/errors.ts';
import { oneLine } from '../base/one-line.ts';
import { createPin, type NewPin, type Pin } from './pin.ts';
import type { PinStore } from './pin-store.ts';

interface PinsOptions {
  store: PinStore;
  log(line: string): void;
  /** Called when the route of an origin's connections changes, with the pin that began or ended. */
  onRouteChange(pin: Pin, cause: RouteChangeCause): void;
}

/** `expired` and `lifted` happen without a request. */
export type RouteChangeCause = 'pinned' | 'unpinned' | 'expired' | 'lifted';

/** `local-address`: the origin has no public address, so that its pin works only with `allowLocal`. */
type LiftCause = 'local-address' | 'other';

/** Timers do not notice a clock that was set or a machine that slept: expiries are checked this often. */
const CLOCK_CHECK_MS = 15_000;
const MAX_REASON_LENGTH = 512;

interface Entry extends PinState {
  /** Its expiry on the clock of `performance.now()`, so that a clock that is set back does not prolong it. */
  endsAtMs: number;
}

export class Pins {
  readonly #options: PinsOptions;
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** Restores the stored pins. Those for the next session only are taken out of the store. */
  restore(): void {
    const { pins, problems } = this.#options.store.load();
    for (const { problem } of problems) this.#options.log(`stored pins: ${problem}`);
    const nowMs = Date.now();
    for (const pin of pins) {
      if (pin.expiresAtMs !== null && pin.expiresAtMs <= nowMs) {
        this.#drop(pin.origin);
        continue;
      }
      if (!pin.persistent) this.#drop(pin.origin);
      // The clock may have been ahead when it was stored.
      const latestMs = nowMs + MAX_PIN_MINUTES * MINUTE_MS;
      this.#set({
        ...pin,
        expiresAtMs: pin.expiresAtMs === null ? null : Math.min(pin.expiresAtMs, latestMs),
      });
    }
  }

  /**
   * Pins an origin, and replaces a former pin of it.
   *
   * @throws RequestError when `MAX_PINS` origins are pinned
   */
  add({ origin, kind, minutes, persistent, allowLocal }: NewPin): void {
    this.#sweep();
    if (!this.#entries.has(origin) && this.#entries.size >= MAX_PINS) {
      throw new RequestError('too-many', `${MAX_PINS} origins are pinned: unpin one first`);
    }
    const pin = createPin({ origin, kind, minutes, persistent, allowLocal });
    if (persistent) pin.persistent = this.#keep(pin);
    else if (this.#entries.get(origin)?.persistent) this.#drop(origin);
    this.#set(pin);
  }

  /** @returns whether there was such a pin. */
  remove(origin: string): boolean {
    return this.#end(origin, 'unpinned');
  }

  /** Ends the effect of a pin of this kind. A persistent one is tried again in the next session. */
  lift(origin: string, kind: PinKind, reason: string, cause: LiftCause = 'other'): void {
    const entry = this.#entries.get(origin);
    if (entry?.kind !== kind || entry.state !== 'active') return;
    entry.state = 'lifted';
    entry.reason = oneLine(reason, MAX_REASON_LENGTH);
    if (cause === 'local-address') entry.isAddressRefused = true;
    this.#options.log(`pin ${origin}: lifted: ${entry.reason}`);
    this.#options.onRouteChange(entry, 'lifted');
  }

  /** The origin's pin if it is in effect now, else null. */
  findActive(origin: string): PinState | null {
    this.#sweep();
    const entry = this.#entries.get(origin);
    return entry?.state === 'active' ? stateOf(entry) : null;
  }

  list(): PinState[] {
    this.#sweep();
    return [...this.#entries.values()].map(stateOf);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#entries.clear();
  }

  #set(pin: Pin): void {
    const { origin, kind, expiresAtMs, allowLocal } = pin;
    const former = this.#entries.get(origin);
    const endsAtMs =
      expiresAtMs === null ? Number.POSITIVE_INFINITY : performance.now() + expiresAtMs - Date.now();
    this.#entries.set(origin, { ...pin, state: 'active', reason: '', endsAtMs });
    this.#schedule();
    const isSameRoute =
      former?.state === 'active' && former.kind === kind && former.allowLocal === allowLocal;
    if (!isSameRoute) this.#options.onRouteChange(pin, 'pinned');
  }

  #end(origin: string, cause: 'unpinned' | 'expired'): boolean {
    const entry = this.#entries.get(origin);
    if (!entry) return false;
    this.#entries.delete(origin);
    // An expired file is removed when it is read: another browser's host may have prolonged the pin meanwhile.
    if (entry.persistent && cause === 'unpinned') this.#drop(origin);
    this.#schedule();
    this.#options.onRouteChange(entry, cause);
    return true;
  }

  #sweep(): void {
    for (const [origin, entry] of this.#entries) {
      if (leftMs(entry) > 0) continue;
      this.#options.log(`pin ${origin}: expired`);
      this.#end(origin, 'expired');
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const nextMs = Math.min(...Array.from(this.#entries.values(), leftMs));
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(
      () => {
        this.#sweep();
        this.#schedule();
      },
      Math.max(0, Math.min(nextMs, CLOCK_CHECK_MS)),
    );
    this.#timer.unref();
  }

  /** @returns whether it was stored; on a full disk a pin works nevertheless, for this session. */
  #keep(pin: Pin): boolean {
    try {
      this.#options.store.keep(pin);
      return true;
    } catch (fault) {
      this.#options.log(`pin ${pin.origin}: not kept: ${(fault as Error).message}`);
      return false;
    }
  }

  #drop(origin: string): void {
    try {
      this.#options.store.drop(origin);
    } catch (fault) {
      this.#options.log(`pin ${origin}: still kept: ${(fault as Error).message}`);
    }
  }
}

/** Milliseconds until the expiry, by the clock that says less: neither sleep nor a clock that was set prolongs a pin. */
function leftMs({ expiresAtMs, endsAtMs }: Entry): number {
  if (expiresAtMs === null) return Number.POSITIVE_INFINITY;
  return Math.min(expiresAtMs - Date.now(), endsAtMs - performance.now());
}

function stateOf({ endsAtMs: _, ...state }: Entry): PinState {
  return state;
}
