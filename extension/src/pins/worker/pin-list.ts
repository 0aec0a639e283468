import type { PinState } from '@hopwise/contract';
import { isPinnable } from '../pinnable-origin.ts';
import type { ProxiedOrigin } from './proxied-requests.ts';

/**
 * The one list of pins, at most one for each origin: those in the helper's last report, then lifted ones until the user dismisses
 * them. Proxy settings, recordings and the pages' views are derived from it.
 */
export class PinList {
  #pins: readonly PinState[] = [];
  #proxiedOrigins: ReadonlyMap<string, ProxiedOrigin> = new Map();

  /** Active and waiting pins first, then lifted ones. */
  get all(): PinState[] {
    return [...this.#pins];
  }

  /** Active and waiting pins. */
  get current(): PinState[] {
    return this.#pins.filter((pin) => !isLifted(pin));
  }

  /** Active pins, by origin. */
  get proxiedOrigins(): ReadonlyMap<string, ProxiedOrigin> {
    return this.#proxiedOrigins;
  }

  /**
   * Replaces the current pins by those that the helper reports, and adds its lifted ones. Once the browser is steered to them,
   * `updateProxiedOrigins` is to be called.
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
    this.updateProxiedOrigins();
  }

  remove(origins: readonly string[]): void {
    this.#pins = this.#pins.filter(({ origin }) => !origins.includes(origin));
    this.updateProxiedOrigins();
  }

  updateProxiedOrigins(): void {
    const before = this.#proxiedOrigins;
    const active = this.#pins.filter(({ state }) => state === 'active');
    this.#proxiedOrigins = new Map(
      active.map(({ origin, kind, allowLocal: allowsLocal = false }) => {
        const former = before.get(origin);
        const sinceMs = former?.kind === kind ? former.sinceMs : Date.now();
        return [origin, { kind, sinceMs, allowsLocal }];
      }),
    );
  }

  #set(current: readonly PinState[], newlyLifted: readonly PinState[]): void {
    const lifted = new Map([...this.#pins.filter(isLifted), ...newlyLifted].map((pin) => [pin.origin, pin]));
    for (const { origin } of current) lifted.delete(origin);
    this.#pins = [...current, ...lifted.values()];
  }
}

const isLifted = ({ state }: PinState): boolean => state === 'lifted';
