import type { PinState } from '@hopwise/native-host/messages';
import { hasPersistentPins, keepPins, keptPins, setHasPersistentPins } from './kept-pins.ts';
import { isPinnable } from './pac.ts';
import { arePinsAllowed } from './pin-permissions.ts';
import { type LinkListener, PinsLink, type PinsMessage, type PinsRequest } from './pins-link.ts';
import type { Steering } from './steering.ts';
import { steeringOfThisBrowser } from './this-browser.ts';

export type PinWish = Extract<PinsRequest, { type: 'pin' }>;

const MINUTE_MS = 60_000;
/**
 * How long the helper stays when the last pin has been lifted: its tunnels end when nothing is under way on them, and a download
 * on one would break off with it.
 */
export const LINGER_MS = 10 * MINUTE_MS;

type SteeringMaker = (onLost: (why: string) => void) => Steering;

/**
 * The pins in force and those that were lifted, as the helper tells. The browser is steered only as long as the helper is there:
 * when its port closes, everything is as the person has it again, at once.
 */
export class Pins {
  readonly #steering: Steering;
  readonly #connect: (listener: LinkListener) => PinsLink;
  readonly #ready: Promise<void>;
  #link: PinsLink | null = null;
  #active: PinState[] = [];
  /** By origin, until somebody has seen and dismissed them. */
  readonly #lifted = new Map<string, PinState>();
  #turn: Promise<unknown> = Promise.resolve();
  /** Runs while the helper stays though nothing is pinned. */
  #linger: ReturnType<typeof setTimeout> | undefined;
  /** Whether there may be tunnels. */
  #hasSteered = false;

  constructor(
    makeSteering: SteeringMaker = steeringOfThisBrowser,
    connect: (listener: LinkListener) => PinsLink = (listener) => new PinsLink(listener),
  ) {
    this.#steering = makeSteering((why) => void this.#liftAll(why));
    this.#connect = connect;
    this.#ready = this.#restore();
  }

  /** Those in force first. */
  async list(): Promise<PinState[]> {
    await this.#ready;
    return this.#all();
  }

  /** @throws Error in a sentence for a person when the origin cannot be pinned */
  async pin(wish: PinWish): Promise<PinState[]> {
    await this.#ready;
    return this.#inTurn(async () => {
      if (!isPinnable(wish.origin)) throw new Error('An origin with such a name cannot be pinned.');
      if (!(await arePinsAllowed())) throw new Error('Pins have not been allowed yet.');
      const obstacle = await this.#steering.obstacle();
      if (obstacle !== '') throw new Error(obstacle);
      try {
        await this.#apply(await this.#open().ask(wish));
      } finally {
        this.#closeIfIdle();
      }
      return this.#all();
    });
  }

  /** Lifts a pin, or forgets one that has been lifted. */
  async unpin(origin: string): Promise<PinState[]> {
    await this.#ready;
    return this.#inTurn(async () => {
      this.#lifted.delete(origin);
      this.#active = this.#active.filter((pin) => pin.origin !== origin);
      try {
        // First the browser: the helper ends the tunnels, which are not to be opened anew.
        if (this.#link) await this.#steer(this.#route);
        if (this.#link) await this.#apply(await this.#link.ask({ type: 'unpin', origin }));
        this.#lifted.delete(origin);
      } finally {
        this.#closeIfIdle();
        await this.#keep();
      }
      return this.#all();
    });
  }

  /** The command line may have made pins that last while no browser was running. */
  async browserStarted(): Promise<void> {
    await this.#ready;
    await this.#inTurn(async () => {
      if (this.#link || !(await arePinsAllowed())) return;
      try {
        await this.#takeUp([]);
      } catch {
        // There is no helper, or another proxy: nothing of this session is lost.
      } finally {
        this.#closeIfIdle();
      }
    });
  }

  /** The person has taken a permission back. */
  async permissionsRemoved(): Promise<void> {
    await this.#ready;
    if (this.#link && !(await arePinsAllowed())) {
      await this.#liftAll('The permissions that pins need were taken back.');
    }
  }

  #route: Pick<PinsMessage, 'port' | 'secret'> = { port: 0, secret: '' };

  async #restore(): Promise<void> {
    // A worker that has just started has no helper. Where the last one could not tidy up, the browser may still be steered.
    await this.#steering.release().catch((error) => console.error('hopwise: proxy settings:', error));
    const [{ pins }, persistent] = await Promise.all([keptPins(), hasPersistentPins()]);
    for (const pin of pins) if (pin.state === 'lifted') this.#lifted.set(pin.origin, pin);
    const again = pins.filter((pin) => pin.state !== 'lifted' && !isOver(pin));
    if (again.length === 0 && !persistent) return;
    void this.#inTurn(async () => {
      if (!(await arePinsAllowed())) return;
      try {
        await this.#takeUp(again);
      } catch (error) {
        for (const pin of again) this.#lifted.set(pin.origin, liftedPin(pin, inWords(error)));
        await this.#keep();
      } finally {
        this.#closeIfIdle();
      }
    });
  }

  /** Pins of the worker before this one, and those that the helper has kept. */
  async #takeUp(pins: PinState[]): Promise<void> {
    const obstacle = await this.#steering.obstacle();
    if (obstacle !== '') throw new Error(obstacle);
    const link = this.#open();
    for (const { origin, kind, expiresAtMs } of pins.filter(({ persistent }) => !persistent)) {
      const minutes =
        expiresAtMs === null ? null : Math.max(1, Math.ceil((expiresAtMs - Date.now()) / MINUTE_MS));
      await link.ask({ type: 'pin', origin, kind, minutes, persistent: false });
    }
    await this.#apply(await link.ask({ type: 'pins' }));
  }

  #open(): PinsLink {
    this.#link ??= this.#connect({
      onPins: (message) => void this.#inTurn(() => this.#applyUnasked(message)),
      onEnd: (why) => void this.#liftAll(why.message),
    });
    return this.#link;
  }

  /** Without pins there is no helper, but for what is under way on its tunnels. */
  #closeIfIdle(): void {
    clearTimeout(this.#linger);
    if (this.#active.length > 0) return;
    if (this.#hasSteered) this.#linger = setTimeout(() => this.#close(), LINGER_MS);
    else this.#close();
  }

  #close(): void {
    clearTimeout(this.#linger);
    this.#hasSteered = false;
    this.#link?.close();
    this.#link = null;
  }

  async #apply({ port, secret, pins }: PinsMessage): Promise<void> {
    if (!this.#link) return;
    this.#route = { port, secret };
    this.#active = pins.filter((pin) => pin.state !== 'lifted' && isPinnable(pin.origin));
    for (const pin of pins) if (pin.state === 'lifted') this.#lifted.set(pin.origin, pin);
    for (const { origin } of this.#active) this.#lifted.delete(origin);
    try {
      await this.#steer({ port, secret });
    } catch (error) {
      await this.#liftAll(inWords(error));
      throw error;
    }
    await setHasPersistentPins(this.#active.some(({ persistent }) => persistent));
    await this.#keep();
  }

  async #applyUnasked(message: PinsMessage): Promise<void> {
    try {
      await this.#apply(message);
    } catch (error) {
      console.error('hopwise: pins:', error);
    } finally {
      this.#closeIfIdle();
    }
  }

  async #steer(route: Pick<PinsMessage, 'port' | 'secret'>): Promise<void> {
    const origins = this.#active.map(({ origin }) => origin);
    this.#hasSteered ||= origins.length > 0;
    if (origins.length === 0) await this.#steering.release();
    else await this.#steering.steer({ ...route, origins });
    // The helper may have gone, and everything been lifted, while the browser was at it.
    if (!this.#link) await this.#steering.release();
  }

  /** Waits for no turn: pages must not hang on a proxy that is gone. */
  async #liftAll(reason: string): Promise<void> {
    this.#close();
    for (const pin of this.#active) this.#lifted.set(pin.origin, liftedPin(pin, reason));
    this.#active = [];
    try {
      await this.#steering.release();
    } finally {
      await this.#keep();
    }
  }

  #all(): PinState[] {
    return [...this.#active, ...this.#lifted.values()];
  }

  #keep(): Promise<void> {
    return keepPins({ pins: this.#all() });
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(change, change);
    this.#turn = done.catch(() => {});
    return done;
  }
}

function isOver({ expiresAtMs }: PinState): boolean {
  return expiresAtMs !== null && expiresAtMs <= Date.now();
}

function liftedPin(pin: PinState, reason: string): PinState {
  return { ...pin, state: 'lifted', reason };
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
