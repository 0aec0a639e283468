import type { PinState } from '@hopwise/contract';
import type { Pinner } from '../../src/autopilot/runs/runs.ts';
import { ShownError } from '../../src/language/shown-error.ts';
import { isMadeAs } from '../../src/pins/worker/pin-transaction.ts';

/** Pins in memory, as the pin manager keeps them. */
export class PinsInMemory implements Pinner {
  pins: PinState[] = [];
  refusal: string | ShownError = '';
  isRestored = true;
  async whenRestored(): Promise<void> {}
  /** How pins were lifted last. */
  lifting: Parameters<Pinner['unpinMade']>[1];
  #listener: () => void = () => {};

  leftSites: readonly string[] = [];

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  async leaveSites(sites: readonly string[]): Promise<void> {
    this.leftSites = sites;
  }

  async listPins(): Promise<PinState[]> {
    return this.pins;
  }

  async pin(...[wanted, { persistent }]: Parameters<Pinner['pin']>): Promise<PinState[]> {
    if (this.refusal instanceof ShownError) throw this.refusal;
    if (this.refusal !== '') throw new Error(this.refusal);
    for (const { origin, kind } of wanted) {
      this.pins = this.pins.filter((pin) => pin.origin !== origin);
      this.pins.push({ origin, kind, persistent, expiresAtMs: null, state: 'active', reason: '' });
    }
    this.#listener();
    return this.pins;
  }

  async unpinMade(...[pins, lifting]: Parameters<Pinner['unpinMade']>): Promise<PinState[]> {
    this.lifting = lifting;
    this.pins = this.pins.filter((pin) => !pins.some((each) => isMadeAs(pin, each)));
    this.#listener();
    return this.pins;
  }

  /** As on the command line. */
  unpinElsewhere(): void {
    this.pins = [];
    this.#listener();
  }

  lift(reason: string): void {
    this.pins = this.pins.map((pin) => ({ ...pin, state: 'lifted', reason }));
    this.#listener();
  }

  get active(): string[] {
    return this.pins.filter(({ state }) => state !== 'lifted').map(({ origin, kind }) => `${kind} ${origin}`);
  }
}
