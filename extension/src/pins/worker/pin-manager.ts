import type { PinState } from '@hopwise/contract';
import type { Carrier } from './proxied-requests.ts';
import { hasPersistentPins, keepPins, keptPins, setHasPersistentPins } from './pin-storage.ts';
import { isPinnable } from './pac.ts';
import { arePinsAllowed } from '../pin-permissions.ts';
import { type LinkListener, PinsLink, type PinsMessage, type PinsRequest } from './helper-link.ts';
import type { Steering } from './steering.ts';
import { steeringOfThisBrowser } from './create-steering.ts';
import { TrustTrials } from './trust-trials.ts';

export type PinWish = Extract<PinsRequest, { type: 'pin' }>;

const MINUTE_MS = 60_000;
/**
 * How long the helper stays when the last pin has been lifted: its tunnels end when nothing is under way on them, and a download
 * on one would break off with it.
 */
export const LINGER_MS = 10 * MINUTE_MS;

/**
 * How long the origin of a new pin that waits is left as it is. While a pin waits, the helper gives a tunnel, which a busy page
 * would stay on; most pins wait for less than this.
 */
export const HOLD_BACK_MS = 2000;

type SteeringMaker = (onLost: (why: string) => void) => Steering;

/**
 * The pins in force and those that were lifted, as the helper tells. The browser is steered only as long as the helper is there:
 * when its port closes, everything is as the person has it again, at once.
 */
export class Pins {
  readonly #steering: Steering;
  readonly #connect: (listener: LinkListener) => PinsLink;
  readonly #ready: Promise<void>;
  readonly #trials: TrustTrials;
  #link: PinsLink | null = null;
  #active: PinState[] = [];
  /** Of each pinned origin whether it is left as it is for now, as its pin waits. */
  readonly #isHeldBack = new Map<string, boolean>();
  #carriers: ReadonlyMap<string, Carrier> = new Map();
  /** By origin, until somebody has seen and dismissed them. */
  readonly #lifted = new Map<string, PinState>();
  #turn: Promise<unknown> = Promise.resolve();
  /** Runs while the helper stays though nothing is pinned. */
  #linger: ReturnType<typeof setTimeout> | undefined;
  /** Whether there may be tunnels. */
  #hasSteered = false;
  #vouched: string[] | null = null;

  constructor(
    makeSteering: SteeringMaker = steeringOfThisBrowser,
    connect: (listener: LinkListener) => PinsLink = (listener) => new PinsLink(listener),
    askForTrial?: (url: string) => Promise<unknown>,
  ) {
    this.#steering = makeSteering((why) => void this.#liftAll(why));
    this.#connect = connect;
    this.#trials = new TrustTrials({
      onInVain: () => this.#steerLater(),
      ...(askForTrial && { ask: askForTrial }),
    });
    this.#ready = this.#restore();
  }

  /** Those in force first. */
  async list(): Promise<PinState[]> {
    await this.#ready;
    return this.#all();
  }

  /** Pins that are in effect, by origin. */
  get carriers(): ReadonlyMap<string, Carrier> {
    return this.#carriers;
  }

  /** Hosts that can be pinned to a protocol, as the helper said last; null before it did. */
  get vouched(): string[] | null {
    return this.#vouched;
  }

  /**
   * Has the helper tell how things are, which is started for it where it does not run.
   *
   * @throws Error in a sentence for a person
   */
  async ask(): Promise<PinState[]> {
    await this.#ready;
    return this.#inTurn(async () => {
      await this.#checkAllowed();
      try {
        await this.#apply(await this.#open().ask({ type: 'pins' }));
      } finally {
        this.#closeIfIdle();
      }
      return this.#all();
    });
  }

  /** @throws Error in a sentence for a person when the origin cannot be pinned */
  async pin(wish: PinWish): Promise<PinState[]> {
    await this.#ready;
    return this.#inTurn(async () => {
      if (!isPinnable(wish.origin)) throw new Error('An origin with such a name cannot be pinned.');
      await this.#checkAllowed();
      if (wish.kind !== 'avoid-h3') this.#trials.again(new URL(wish.origin).hostname);
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
      this.#noteCarriers();
      try {
        // First the browser: the helper ends the tunnels, which are not to be opened anew.
        if (this.#link) await this.#steer();
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

  /** @throws Error in a sentence for a person when there can be no pins at all */
  async #checkAllowed(): Promise<void> {
    if (!(await arePinsAllowed())) throw new Error('Pins have not been allowed yet.');
    const obstacle = await this.#steering.obstacle();
    if (obstacle !== '') throw new Error(obstacle);
  }

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
    this.#trials.end();
    this.#link?.close();
    this.#link = null;
  }

  async #apply({ port, secret, vouched, trials, pins }: PinsMessage): Promise<void> {
    if (!this.#link) return;
    this.#route = { port, secret };
    this.#vouched = vouched;
    this.#trials.want(trials.filter((host) => isPinnable(`https://${host}`)));
    this.#active = pins.filter((pin) => pin.state !== 'lifted' && isPinnable(pin.origin));
    for (const pin of pins) if (pin.state === 'lifted') this.#lifted.set(pin.origin, pin);
    for (const { origin } of this.#active) this.#lifted.delete(origin);
    this.#holdBack();
    await this.#steerOrLift();
    this.#noteCarriers();
    const persistent = this.#active.some(({ persistent }) => persistent);
    await Promise.all([setHasPersistentPins(persistent), this.#keep()]);
  }

  async #applyUnasked(message: PinsMessage): Promise<void> {
    try {
      await this.#apply(message);
    } catch (error) {
      report(error);
    } finally {
      this.#closeIfIdle();
    }
  }

  #noteCarriers(): void {
    const before = this.#carriers;
    const now = this.#active.filter(({ state }) => state === 'active');
    this.#carriers = new Map(
      now.map(({ origin, kind }) => {
        const former = before.get(origin);
        return [origin, former?.kind === kind ? former : { kind, sinceMs: Date.now() }];
      }),
    );
  }

  #holdBack(): void {
    for (const origin of this.#isHeldBack.keys()) {
      if (!this.#active.some((pin) => pin.origin === origin)) this.#isHeldBack.delete(origin);
    }
    for (const { origin, state } of this.#active) {
      if (state === 'active') this.#isHeldBack.set(origin, false);
      else if (!this.#isHeldBack.has(origin)) {
        this.#isHeldBack.set(origin, true);
        setTimeout(() => {
          this.#isHeldBack.set(origin, false);
          this.#steerLater();
        }, HOLD_BACK_MS);
      }
    }
  }

  #steerLater(): void {
    void this.#inTurn(() => this.#steerOrLift()).catch(report);
  }

  async #steerOrLift(): Promise<void> {
    try {
      await this.#steer();
    } catch (error) {
      await this.#liftAll(inWords(error));
      throw error;
    }
  }

  async #steer(): Promise<void> {
    const origins = this.#active
      .map(({ origin }) => origin)
      .filter((origin) => !this.#isHeldBack.get(origin));
    const trials = this.#trials.origins();
    this.#hasSteered ||= origins.length > 0;
    if (origins.length + trials.length === 0) await this.#steering.release();
    else await this.#steering.steer({ ...this.#route, origins, trials });
    // The helper may have gone, and everything been lifted, while the browser was at it.
    if (!this.#link) await this.#steering.release();
    else this.#trials.start();
  }

  /** Waits for no turn: pages must not hang on a proxy that is gone. */
  async #liftAll(reason: string): Promise<void> {
    this.#close();
    for (const pin of this.#active) this.#lifted.set(pin.origin, liftedPin(pin, reason));
    this.#active = [];
    this.#noteCarriers();
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

function report(error: unknown): void {
  console.error('hopwise: pins:', error);
}
