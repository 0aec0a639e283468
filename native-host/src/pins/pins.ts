/** Which origins are pinned, how, and until when. */
import { MAX_PIN_MINUTES, MAX_PINS, type PinKind, type PinState } from '@hopwise/contract';
import { oneLine } from '../base/one-line.ts';
import { PinError } from '../base/pin-error.ts';
import type { NewPin, Pin } from './pin.ts';
import type { PinStore } from './pin-store.ts';

export interface PinsOptions {
  store: PinStore;
  log(line: string): void;
  /** Told whenever connections to the origin have to go another way than before, and by what. */
  onRouteChange(origin: string, cause: RouteChangeCause): void;
}

/** `expired` and `lifted` come about by themselves. */
export type RouteChangeCause = 'pinned' | 'unpinned' | 'expired' | 'lifted';

const MINUTE_MS = 60_000;
/** A timer does not see that the clock was set or that the machine slept: the ends are looked at this often. */
const CLOCK_CHECK_MS = 15_000;
const MAX_REASON_LENGTH = 512;

interface Entry extends PinState {
  /** Its end by `performance.now()`, so that a clock that is set back does not prolong it. */
  endsAtMs: number;
}

export class Pins {
  readonly #options: PinsOptions;
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** Brings back the pins that were kept. */
  restore(): void {
    const { pins, problems } = this.#options.store.load();
    for (const { problem } of problems) this.#options.log(`kept pins: ${problem}`);
    const nowMs = Date.now();
    for (const pin of pins) {
      if (pin.expiresAtMs !== null && pin.expiresAtMs <= nowMs) {
        this.#drop(pin.origin);
        continue;
      }
      // It was kept while the clock was ahead.
      const latestMs = nowMs + MAX_PIN_MINUTES * MINUTE_MS;
      this.#set({
        ...pin,
        expiresAtMs: pin.expiresAtMs === null ? null : Math.min(pin.expiresAtMs, latestMs),
      });
    }
  }

  /**
   * Pins an origin, in place of a former pin of it.
   *
   * @throws PinError above the limit of pins
   */
  add({ origin, kind, minutes, persistent }: NewPin): void {
    this.#sweep();
    if (!this.#entries.has(origin) && this.#entries.size >= MAX_PINS) {
      throw new PinError('too-many', `${MAX_PINS} origins are pinned: unpin one first`);
    }
    const expiresAtMs = minutes === null ? null : Date.now() + minutes * MINUTE_MS;
    const pin = { origin, kind, expiresAtMs, persistent };
    if (persistent) pin.persistent = this.#keep(pin);
    else if (this.#entries.get(origin)?.persistent) this.#drop(origin);
    this.#set(pin);
  }

  /** @returns whether there was such a pin. */
  remove(origin: string): boolean {
    return this.#end(origin, 'unpinned');
  }

  /** Takes the effect of a pin of this kind. A kept one is tried again in the next session. */
  lift(origin: string, kind: PinKind, reason: string): void {
    const entry = this.#entries.get(origin);
    if (entry?.kind !== kind || entry.state !== 'active') return;
    entry.state = 'lifted';
    entry.reason = oneLine(reason, MAX_REASON_LENGTH);
    this.#options.log(`pin ${origin}: lifted: ${entry.reason}`);
    this.#options.onRouteChange(origin, 'lifted');
  }

  /** The pin of the origin that is in effect at this moment. */
  active(origin: string): PinState | null {
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
    const { origin, kind, expiresAtMs } = pin;
    const former = this.#entries.get(origin);
    const endsAtMs =
      expiresAtMs === null ? Number.POSITIVE_INFINITY : performance.now() + expiresAtMs - Date.now();
    this.#entries.set(origin, { ...pin, state: 'active', reason: '', endsAtMs });
    this.#schedule();
    if (former?.state !== 'active' || former.kind !== kind) this.#options.onRouteChange(origin, 'pinned');
  }

  #end(origin: string, cause: 'unpinned' | 'expired'): boolean {
    const entry = this.#entries.get(origin);
    if (!entry) return false;
    this.#entries.delete(origin);
    // What has expired is dropped when it is read: another browser's host may have kept it for longer meanwhile.
    if (entry.persistent && cause === 'unpinned') this.#drop(origin);
    this.#schedule();
    this.#options.onRouteChange(origin, cause);
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

  /** @returns whether it is kept; a full disk takes a pin its persistence, not its effect. */
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

/** Milliseconds until its end, by whichever clock says less: neither sleep nor a clock that was set prolongs a pin. */
function leftMs({ expiresAtMs, endsAtMs }: Entry): number {
  if (expiresAtMs === null) return Number.POSITIVE_INFINITY;
  return Math.min(expiresAtMs - Date.now(), endsAtMs - performance.now());
}

function stateOf({ endsAtMs: _, ...state }: Entry): PinState {
  return state;
}
