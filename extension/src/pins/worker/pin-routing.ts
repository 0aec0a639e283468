import { EVERY_ORIGIN } from '@hopwise/contract';
import type { EveryOrigin } from '../../evidence/every-origin.ts';
import type { HelperPins } from '../../helper/helper-connection.ts';
import type { PinList } from './pin-list.ts';
import type { Lifting, Steering } from './steering.ts';
import type { TrustTrials } from './trust-trials.ts';

/**
 * How long the origin of a new, waiting pin is not routed through the helper yet. While a pin waits, the helper offers a plain
 * tunnel, and a busy page would keep using that connection. Most pins wait for less than this.
 */
export const WAITING_PIN_DELAY_MS = 2000;

/** Routes the requests to pinned origins through the helper's proxy: which of them, and from when on. */
export class PinRouting {
  readonly #steering: Steering;
  readonly #pins: PinList;
  readonly #onDue: () => void;
  readonly #trials: Pick<TrustTrials, 'listOrigins'>;
  /** Origins that are not routed yet, because their pins are new and waiting. */
  readonly #delayed = new Set<string>();
  #reported: Pick<HelperPins, 'port' | 'everyOrigin'> = { port: 0 };
  /** Whether connections may be open through the helper's proxy. */
  hasRouted = false;
  /** What a pin of every origin leaves to the browser: sites, with their subdomains, and origins. */
  leftSites: readonly string[] = [];

  /**
   * @param pins the one list of pins, which reports change
   * @param trials trust trials, of which the origins are routed as well
   * @param onDue called when other origins are to be routed than before: `route` is due
   */
  constructor(
    steering: Steering,
    pins: PinList,
    trials: Pick<TrustTrials, 'listOrigins'>,
    onDue: () => void,
  ) {
    this.#steering = steering;
    this.#pins = pins;
    this.#trials = trials;
    this.#onDue = onDue;
  }

  /** How a pin of every origin is in effect; null without one. */
  get everyOrigin(): EveryOrigin | null {
    const isPinned = this.#pins.current.some(({ origin }) => origin === EVERY_ORIGIN);
    const { everyOrigin } = this.#reported;
    return isPinned && everyOrigin ? { ...everyOrigin, leftSites: this.leftSites } : null;
  }

  /** Takes over the pins that the helper reports, and how they are to be routed, which `route` does. */
  applyReport({ port, everyOrigin, pins }: Pick<HelperPins, 'port' | 'everyOrigin' | 'pins'>): void {
    this.#reported = { port, everyOrigin };
    const before = this.#pins.current.map(({ origin }) => origin);
    this.#pins.applyReport(pins);
    this.#delayWaiting(before);
  }

  /** Routes the pinned origins and the trust trials, and no others. @throws ShownError */
  async route(lifting: Lifting): Promise<void> {
    const origins = this.#pins.current
      .map(({ origin }) => origin)
      .filter((each) => each !== EVERY_ORIGIN && !this.#delayed.has(each));
    const { everyOrigin } = this;
    const trials = this.#trials.listOrigins();
    this.hasRouted ||= origins.length > 0 || everyOrigin !== null;
    if (origins.length + trials.length === 0 && everyOrigin === null)
      await this.#steering.clearRoute(lifting);
    else {
      const { port } = this.#reported;
      await this.#steering.setRoute({ port, origins, trials, ...(everyOrigin && { everyOrigin }) }, lifting);
    }
  }

  /** @param before origins that were pinned before the last report */
  #delayWaiting(before: readonly string[]): void {
    const waiting = this.#pins.current.filter(({ state }) => state === 'waiting').map(({ origin }) => origin);
    for (const origin of this.#delayed) if (!waiting.includes(origin)) this.#delayed.delete(origin);
    for (const origin of waiting.filter((each) => !before.includes(each))) {
      this.#delayed.add(origin);
      setTimeout(() => {
        this.#delayed.delete(origin);
        this.#onDue();
      }, WAITING_PIN_DELAY_MS);
    }
  }
}
