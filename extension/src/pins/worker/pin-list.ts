import { EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import type { EveryOrigin } from '../../evidence/every-origin.ts';
import type { PinPeriod } from '../../evidence/pin-period.ts';
import { isPinnable } from '../pinnable-origin.ts';

/** How long ended pins are remembered: longer than a page loads. */
const REMEMBERED_MS = 10 * 60_000;

/**
 * The one list of pins, at most one for each origin: those in the helper's last report, then lifted ones until the user dismisses
 * them. Proxy settings, recordings and the pages' views are derived from it.
 */
export class PinList {
  #pins: readonly PinState[] = [];
  #periods: readonly PinPeriod[] = [];

  /** Active and waiting pins first, then lifted ones. */
  get all(): PinState[] {
    return [...this.#pins];
  }

  /** Active and waiting pins. */
  get current(): PinState[] {
    return this.#pins.filter((pin) => !isLifted(pin));
  }

  /** When pins were active: those that last, and those that ended in the last minutes. */
  get periods(): readonly PinPeriod[] {
    return this.#periods;
  }

  /**
   * Replaces the current pins by those that the helper reports, and adds its lifted ones. Once the browser is steered to them,
   * `updatePeriods` is to be called.
   */
  applyReport(reported: readonly PinState[]): void {
    const current = reported.filter((pin) => !isLifted(pin) && isPinnable(pin.origin));
    this.#set(current, reported.filter(isLifted));
  }

  /** Lifts all current pins. */
  liftAll(reason: string): void {
    this.addLifted(this.current, reason);
  }

  /** Lifts these pins. @param reason '' to leave each its own */
  addLifted(pins: readonly PinState[], reason = ''): void {
    const lifted = pins.map((pin) => ({ ...pin, state: 'lifted' as const, reason: reason || pin.reason }));
    this.#set(
      this.current.filter(({ origin }) => !pins.some((pin) => pin.origin === origin)),
      lifted,
    );
    this.updatePeriods();
  }

  remove(origins: readonly string[]): void {
    this.#pins = this.#pins.filter(({ origin }) => !origins.includes(origin));
    this.updatePeriods();
  }

  /** @param everyOrigin how a pin of every origin is in effect; null for no change */
  updatePeriods(everyOrigin: EveryOrigin | null = null): void {
    const nowMs = Date.now();
    const active = this.#pins.filter(({ state }) => state === 'active');
    const continues = (period: PinPeriod, { origin, kind }: PinState) =>
      period.endedMs === null && period.origin === origin && period.kind === kind;
    const ended = this.#periods
      .filter((period) => !active.some((pin) => continues(period, pin)))
      .map((period) => ({ ...period, endedMs: period.endedMs ?? nowMs }))
      .filter(({ endedMs }) => nowMs - endedMs < REMEMBERED_MS);
    const lasting = active.map((pin) => {
      const { origin, kind, allowLocal: allowsLocal = false } = pin;
      const former = this.#periods.find((period) => continues(period, pin));
      const sinceMs = former?.sinceMs ?? nowMs;
      const how = origin === EVERY_ORIGIN ? (everyOrigin ?? former?.everyOrigin) : undefined;
      return { origin, kind, allowsLocal, sinceMs, endedMs: null, ...(how && { everyOrigin: how }) };
    });
    this.#periods = [...ended, ...lasting];
  }

  #set(current: readonly PinState[], newlyLifted: readonly PinState[]): void {
    const lifted = new Map([...this.#pins.filter(isLifted), ...newlyLifted].map((pin) => [pin.origin, pin]));
    for (const { origin } of current) lifted.delete(origin);
    this.#pins = [...current, ...lifted.values()];
  }
}

const isLifted = ({ state }: PinState): boolean => state === 'lifted';
