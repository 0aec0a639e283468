import type { PinState } from '@hopwise/contract';
import { hasPinPermissions } from '../pin-permissions.ts';
import { isLocalOrigin, isPinnable } from '../pinnable-origin.ts';
import { createSteering } from './create-steering.ts';
import { HelperLink, type HelperPinRequest, type HelperPins, type LinkListener } from './helper-link.ts';
import { hasPersistentPins, loadPins, savePins, setHasPersistentPins } from './pin-storage.ts';
import type { ProxiedOrigin } from './proxied-requests.ts';
import type { Steering } from './steering.ts';
import { TrustTrials } from './trust-trials.ts';

export type PinOptions = Extract<HelperPinRequest, { type: 'pin' }>;

const MINUTE_MS = 60_000;
/**
 * How long the helper keeps running after the last pin ends. Its tunnels close once they are idle, and a download in progress
 * would fail if the helper ended first.
 */
export const LINGER_MS = 10 * MINUTE_MS;

/**
 * How long the origin of a new, waiting pin is not routed through the helper yet. While a pin waits, the helper offers a plain
 * tunnel, and a busy page would keep using that connection. Most pins wait for less than this.
 */
export const WAITING_PIN_DELAY_MS = 2000;

const LOCAL_ORIGIN =
  'This origin is on your computer or in your network. It can only be pinned on the command line, with --allow-local.';

type SteeringMaker = (onLost: (why: string) => void) => Steering;

/**
 * Active, waiting and lifted pins as the helper reports them. The browser's proxy settings are changed only while the helper's
 * port is open; when it closes, they are restored at once.
 */
export class PinManager {
  readonly #steering: Steering;
  readonly #connect: (listener: LinkListener) => HelperLink;
  readonly #ready: Promise<void>;
  readonly #trials: TrustTrials;
  #link: HelperLink | null = null;
  #active: PinState[] = [];
  /** For each pinned origin, whether it is not routed through the helper yet because its pin is waiting. */
  readonly #isDelayed = new Map<string, boolean>();
  #proxiedOrigins: ReadonlyMap<string, ProxiedOrigin> = new Map();
  /** By origin, until the user dismisses them. */
  readonly #lifted = new Map<string, PinState>();
  #turn: Promise<unknown> = Promise.resolve();
  /** Runs while the helper is kept alive although nothing is pinned. */
  #linger: ReturnType<typeof setTimeout> | undefined;
  /** Whether connections may be open through the helper's proxy. */
  #hasSteered = false;
  #vouched: string[] | null = null;
  #launcher: string | null = null;
  #onChange: () => void = () => {};

  constructor(
    makeSteering: SteeringMaker = createSteering,
    connect: (listener: LinkListener) => HelperLink = (listener) => new HelperLink(listener),
    askForTrial?: (url: string) => Promise<unknown>,
  ) {
    this.#steering = makeSteering((why) => void this.#liftAll(why));
    this.#connect = connect;
    this.#trials = new TrustTrials({
      onUnanswered: () => this.#steerLater(),
      ...(askForTrial && { ask: askForTrial }),
    });
    this.#ready = this.#restore();
  }

  /** @param listener called after every change, also when pins were lifted */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Active and waiting pins first, then lifted ones. */
  async listPins(): Promise<PinState[]> {
    await this.#ready;
    return this.#collectPins();
  }

  /** Active pins, by origin. */
  get proxiedOrigins(): ReadonlyMap<string, ProxiedOrigin> {
    return this.#proxiedOrigins;
  }

  /** Hosts that can be pinned to a protocol, from the helper's last message; null before the first. */
  get vouched(): string[] | null {
    return this.#vouched;
  }

  /** Absolute path of the helper's launcher; null before its first message. */
  get launcher(): string | null {
    return this.#launcher;
  }

  /**
   * Asks the helper for its pins, which starts it if it is not running.
   *
   * @throws Error with a message to show
   */
  async refreshPins(): Promise<PinState[]> {
    await this.#ready;
    return this.#runInTurn(async () => {
      await this.#checkAllowed();
      try {
        await this.#apply(await this.#open().ask({ type: 'pins' }));
      } finally {
        this.#closeIfIdle();
      }
      return this.#collectPins();
    });
  }

  /** @throws Error with a message to show when the origin cannot be pinned */
  async pinOrigin(options: PinOptions): Promise<PinState[]> {
    await this.#ready;
    return this.#runInTurn(async () => {
      if (!isPinnable(options.origin))
        throw new Error('Origins with unusual characters in their name cannot be pinned.');
      if (isLocalOrigin(options.origin) && !options.allowLocal) throw new Error(LOCAL_ORIGIN);
      await this.#checkAllowed();
      if (options.kind !== 'avoid-h3') this.#trials.allowRetry(new URL(options.origin).hostname);
      try {
        await this.#apply(await this.#open().ask(options));
      } finally {
        this.#closeIfIdle();
      }
      return this.#collectPins();
    });
  }

  /** Lifts a pin, or dismisses a lifted one. */
  async unpinOrigin(origin: string): Promise<PinState[]> {
    await this.#ready;
    return this.#runInTurn(async () => {
      this.#lifted.delete(origin);
      this.#active = this.#active.filter((pin) => pin.origin !== origin);
      this.#updateProxiedOrigins();
      try {
        // The browser first: the helper then closes its tunnels, and the browser must not reopen them.
        if (this.#link) await this.#steer();
        if (this.#link) await this.#apply(await this.#link.ask({ type: 'unpin', origin }));
        this.#lifted.delete(origin);
      } finally {
        this.#closeIfIdle();
        await this.#savePins();
      }
      return this.#collectPins();
    });
  }

  /** Adopts persistent pins, which the command line may have created while no browser was running. */
  async handleBrowserStart(): Promise<void> {
    await this.#ready;
    await this.#runInTurn(async () => {
      if (this.#link || !(await hasPinPermissions())) return;
      try {
        await this.#adoptPins([]);
      } catch {
        // No helper, or another proxy is set: this session has no pins to lose.
      } finally {
        this.#closeIfIdle();
      }
    });
  }

  /** The user revoked a permission. */
  async handlePermissionRemoval(): Promise<void> {
    await this.#ready;
    if (this.#link && !(await hasPinPermissions())) {
      await this.#liftAll('The permissions that pins need were revoked.');
    }
  }

  #route: Pick<HelperPins, 'port' | 'secret'> = { port: 0, secret: '' };

  /** @throws Error with a message to show when no pins are possible at all */
  async #checkAllowed(): Promise<void> {
    if (!(await hasPinPermissions()))
      throw new Error('Pins have not been allowed yet. Choose “Make it faster” in the popup first.');
    const obstacle = await this.#steering.findObstacle();
    if (obstacle !== '') throw new Error(obstacle);
  }

  async #restore(): Promise<void> {
    // A worker that has just started has no helper. If the last worker could not clean up, the proxy settings are still changed.
    await this.#steering
      .clearRoute()
      .catch((error) => console.error('hopwise: proxy settings were not restored:', error));
    const [{ pins }, persistent] = await Promise.all([loadPins(), hasPersistentPins()]);
    for (const pin of pins) if (pin.state === 'lifted') this.#lifted.set(pin.origin, pin);
    const unexpired = pins.filter((pin) => pin.state !== 'lifted' && !isExpired(pin));
    if (unexpired.length === 0 && !persistent) return;
    void this.#runInTurn(async () => {
      if (!(await hasPinPermissions())) return;
      try {
        await this.#adoptPins(unexpired);
      } catch (error) {
        for (const pin of unexpired) this.#lifted.set(pin.origin, liftedPin(pin, messageOf(error)));
        await this.#savePins();
      } finally {
        this.#closeIfIdle();
      }
    });
  }

  /** Recreates the pins of the previous worker and adopts the persistent ones of the helper. */
  async #adoptPins(pins: PinState[]): Promise<void> {
    const obstacle = await this.#steering.findObstacle();
    if (obstacle !== '') throw new Error(obstacle);
    const link = this.#open();
    for (const { origin, kind, expiresAtMs, allowLocal } of pins.filter(({ persistent }) => !persistent)) {
      const minutes =
        expiresAtMs === null ? null : Math.max(1, Math.ceil((expiresAtMs - Date.now()) / MINUTE_MS));
      await link.ask({ type: 'pin', origin, kind, minutes, persistent: false, allowLocal });
    }
    await this.#apply(await link.ask({ type: 'pins' }));
  }

  #open(): HelperLink {
    this.#link ??= this.#connect({
      onPins: (message) => void this.#runInTurn(() => this.#applyUpdate(message)),
      onEnd: (why) => void this.#liftAll(why.message),
    });
    return this.#link;
  }

  /** Closes the helper's port when nothing is pinned, at once or, if connections may be open through it, after `LINGER_MS`. */
  #closeIfIdle(): void {
    clearTimeout(this.#linger);
    if (this.#active.length > 0) return;
    if (this.#hasSteered) this.#linger = setTimeout(() => this.#close(), LINGER_MS);
    else this.#close();
  }

  #close(): void {
    clearTimeout(this.#linger);
    this.#hasSteered = false;
    this.#trials.endAll();
    this.#link?.close();
    this.#link = null;
  }

  async #apply({ port, secret, vouched, launcher, trials, trialToken, pins }: HelperPins): Promise<void> {
    if (!this.#link) return;
    this.#route = { port, secret };
    this.#vouched = vouched;
    this.#launcher = launcher;
    this.#trials.setHosts(
      trials.filter((host) => isPinnable(`https://${host}`)),
      trialToken,
    );
    this.#active = pins.filter((pin) => pin.state !== 'lifted' && isPinnable(pin.origin));
    for (const pin of pins) if (pin.state === 'lifted') this.#lifted.set(pin.origin, pin);
    for (const { origin } of this.#active) this.#lifted.delete(origin);
    this.#delayWaiting();
    await this.#steerOrLift();
    this.#updateProxiedOrigins();
    const persistent = this.#active.some(({ persistent }) => persistent);
    await Promise.all([setHasPersistentPins(persistent), this.#savePins()]);
  }

  async #applyUpdate(message: HelperPins): Promise<void> {
    try {
      await this.#apply(message);
    } catch (error) {
      report(error);
    } finally {
      this.#closeIfIdle();
    }
  }

  #updateProxiedOrigins(): void {
    const before = this.#proxiedOrigins;
    const now = this.#active.filter(({ state }) => state === 'active');
    this.#proxiedOrigins = new Map(
      now.map(({ origin, kind, allowLocal = false }) => {
        const former = before.get(origin);
        const sinceMs = former?.kind === kind ? former.sinceMs : Date.now();
        return [origin, { kind, sinceMs, allowsLocal: allowLocal }];
      }),
    );
  }

  #delayWaiting(): void {
    for (const origin of this.#isDelayed.keys()) {
      if (!this.#active.some((pin) => pin.origin === origin)) this.#isDelayed.delete(origin);
    }
    for (const { origin, state } of this.#active) {
      if (state === 'active') this.#isDelayed.set(origin, false);
      else if (!this.#isDelayed.has(origin)) {
        this.#isDelayed.set(origin, true);
        setTimeout(() => {
          this.#isDelayed.set(origin, false);
          this.#steerLater();
        }, WAITING_PIN_DELAY_MS);
      }
    }
  }

  #steerLater(): void {
    void this.#runInTurn(() => this.#steerOrLift()).catch(report);
  }

  async #steerOrLift(): Promise<void> {
    try {
      await this.#steer();
    } catch (error) {
      await this.#liftAll(messageOf(error));
      throw error;
    }
  }

  async #steer(): Promise<void> {
    const origins = this.#active.map(({ origin }) => origin).filter((origin) => !this.#isDelayed.get(origin));
    const trials = this.#trials.listOrigins();
    this.#hasSteered ||= origins.length > 0;
    if (origins.length + trials.length === 0) await this.#steering.clearRoute();
    else await this.#steering.setRoute({ ...this.#route, origins, trials });
    // The helper may have ended, and all pins with it, while the browser applied the settings.
    if (!this.#link) await this.#steering.clearRoute();
    else this.#trials.startDue();
  }

  /** Does not wait for its turn: pages must not hang on a proxy that no longer runs. */
  async #liftAll(reason: string): Promise<void> {
    this.#close();
    for (const pin of this.#active) this.#lifted.set(pin.origin, liftedPin(pin, reason));
    this.#active = [];
    this.#updateProxiedOrigins();
    try {
      await this.#steering.clearRoute();
    } finally {
      await this.#savePins();
    }
  }

  #collectPins(): PinState[] {
    return [...this.#active, ...this.#lifted.values()];
  }

  #savePins(): Promise<void> {
    this.#onChange();
    return savePins({ pins: this.#collectPins() });
  }

  #runInTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(change, change);
    this.#turn = done.catch(() => {});
    return done;
  }
}

function isExpired({ expiresAtMs }: PinState): boolean {
  return expiresAtMs !== null && expiresAtMs <= Date.now();
}

function liftedPin(pin: PinState, reason: string): PinState {
  return { ...pin, state: 'lifted', reason };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function report(error: unknown): void {
  console.error('hopwise: pins:', error);
}
