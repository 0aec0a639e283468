import {
  EVERY_ORIGIN,
  type MeasuredExchange,
  messageOf,
  type PinState,
  type Protocol,
  SerialQueue,
} from '@hopwise/contract';
import type { PinPeriod } from '../../evidence/pin-period.ts';
import { HelperConnection, type HelperPins } from '../../helper/helper-connection.ts';
import { HelperError } from '../../helper/helper-port.ts';
import { describeError } from '../../language/describe-error.ts';
import { loadLanguage } from '../../language/load-language.ts';
import { ShownError } from '../../language/shown-error.ts';
import { type PlainKey, t } from '../../language/translate.ts';
import type { PinLifetime } from '../pin-messages.ts';
import { hasPinPermissions } from '../pin-permissions.ts';
import { isLocalOrigin, isPinnable } from '../pinnable-origin.ts';
import type { PlannedPin } from '../plan-pins.ts';
import { createSteering } from './create-steering.ts';
import { allowLocalOrigin, loadLocalOrigins } from './local-origins.ts';
import { PinList } from './pin-list.ts';
import { PinRouting } from './pin-routing.ts';
import { hasPersistentPins, loadPins, savePins, setHasPersistentPins } from './pin-storage.ts';
import { type HelperPinRequest, isExpired, isMadeAs, pinAllOrNone, renewedPin } from './pin-transaction.ts';
import type { Lifting, Steering } from './steering.ts';
import { TrustTrials } from './trust-trials.ts';

/** Includes the time that the browser takes to start the helper. */
const ANSWER_LIMIT_MS = 15_000;
/**
 * How long the helper keeps running after the last pin ends. Its tunnels close once they are idle, and a download in progress
 * would fail if the helper ended first.
 */
export const LINGER_MS = 10 * 60_000;

type SteeringMaker = (onLost: (why: PlainKey) => void) => Steering;
type ExchangeListener = (origin: string, exchanges: readonly MeasuredExchange[]) => void;
type Connect = (listener: ConstructorParameters<typeof HelperConnection>[0]) => HelperConnection;

/**
 * Makes pins in the helper and has the browser route requests by its reports. The browser's proxy settings are changed only while the helper's
 * port is open; when it closes, they are restored at once.
 */
export class PinManager {
  readonly #steering: Steering;
  readonly #trials: TrustTrials;
  readonly #routing: PinRouting;
  readonly #connect: Connect;
  readonly #ready: Promise<void>;
  readonly #pins = new PinList();
  #helper: HelperConnection | null = null;
  /** The helper's last message about pins: an earlier one that waits for its turn is out of date. */
  #newest: HelperPins | null = null;
  readonly #queue = new SerialQueue();
  /** Runs while the helper is kept alive although nothing is pinned. */
  #linger: ReturnType<typeof setTimeout> | undefined;
  #caHosts: string[] | null = null;
  #launcher: string | null = null;
  #isRestored = false;
  #restoring: Promise<unknown> = Promise.resolve();
  readonly #listeners: (() => void)[] = [];
  #onExchanges: ExchangeListener | null = null;

  constructor(
    makeSteering: SteeringMaker = createSteering,
    connect: Connect = (listener) => new HelperConnection(listener),
    askForTrial?: (url: string) => Promise<unknown>,
  ) {
    this.#connect = connect;
    this.#steering = makeSteering((why) => void this.#liftAll(t(why)));
    const onDue = () => this.#routeLater();
    this.#trials = new TrustTrials({ onChange: onDue, ...(askForTrial && { ask: askForTrial }) });
    this.#routing = new PinRouting(this.#steering, this.#pins, this.#trials, onDue);
    this.#ready = this.#restore();
  }

  /** @param listener called after every change, also when pins were lifted */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @param listener called with what requests to an origin with an `auto` pin have shown */
  onExchanges(listener: ExchangeListener): void {
    this.#onExchanges = listener;
  }

  /** Active and waiting pins first, then lifted ones. Those of the worker before this one are missing until `isRestored`. */
  async listPins(): Promise<PinState[]> {
    await this.#ready;
    return this.#pins.all;
  }

  /** Whether the pins of the worker before this one are made again, or lifted. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** Waits until the pins of the worker before this one are made again, or lifted. */
  async whenRestored(): Promise<void> {
    await this.#ready;
    await this.#restoring;
  }

  /** The running helper; null when none runs. */
  get helper(): HelperConnection | null {
    return this.#helper;
  }

  /** When pins were active, see `PinList`. */
  get periods(): readonly PinPeriod[] {
    return this.#pins.periods;
  }

  /** Hosts that can be pinned to a protocol, from the helper's last message; null before the first. */
  get caHosts(): string[] | null {
    return this.#caHosts;
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
  refreshPins(): Promise<PinState[]> {
    return this.#change(async () => {
      await this.#checkAllowed();
      await this.#apply(await this.#ask(await this.#open(), { type: 'pins' }));
    });
  }

  /**
   * Makes all of these pins, or none of them, see `pinAllOrNone`. What the user allows for them stays allowed where they are made.
   *
   * @throws Error with a message to show when one is not possible
   */
  pin(pins: readonly PlannedPin[], { minutes, persistent }: PinLifetime): Promise<PinState[]> {
    return this.#change(async () => {
      const localOrigins = await loadLocalOrigins();
      const wanted = pins.map(({ origin, kind, allowLocal: isNowAllowed = false }) => {
        if (!isPinnable(origin)) throw new ShownError(() => t('pinUnusualName'));
        const allowLocal = isNowAllowed || localOrigins.includes(origin);
        if (isLocalOrigin(origin) && !allowLocal) throw new ShownError(() => t('pinLocalOrigin'));
        return { origin, kind, minutes, persistent, allowLocal };
      });
      await this.#checkAllowed();
      for (const { origin, kind } of pins)
        if (kind !== 'avoid-h3') this.#trials.allowRetry(new URL(origin).hostname);
      const helper = await this.#open();
      const { report, refusal } = await pinAllOrNone(wanted, (request) => this.#ask(helper, request));
      if (report) await this.#apply(report);
      if (refusal !== null) throw refusal;
      if (pins.some(({ origin }) => origin === EVERY_ORIGIN) && !report?.everyOrigin) {
        await this.#apply(await this.#ask(helper, { type: 'unpin', origin: EVERY_ORIGIN }));
        throw new ShownError(() => t('pinHelperTooOld'));
      }
      for (const { origin, allowLocal } of pins) if (allowLocal) await allowLocalOrigin(origin);
    });
  }

  /** Sends the next requests to an origin with an `auto` pin under a protocol. @throws Error with a message where that is not possible */
  async steer(origin: string, protocol: Protocol): Promise<void> {
    await this.#change(async () => {
      if (this.#helper) await this.#apply(await this.#ask(this.#helper, { type: 'steer', origin, protocol }));
    });
  }

  /** Removes origins' pins, or dismisses lifted ones. @throws Error with a message to show when the helper does not remove one */
  unpin(origins: readonly string[], lifting: Lifting = {}): Promise<PinState[]> {
    return this.#change(() => this.#unpin(origins, lifting));
  }

  /**
   * Removes those of these pins that are in effect once the changes before are made, also the restoring of the last worker's pins. What
   * has replaced one stays, as does a persistent pin: `pin` was not asked for it.
   *
   * @throws what `unpin` throws
   */
  unpinMade(pins: readonly PlannedPin[], lifting: Lifting = {}): Promise<PinState[]> {
    return this.#change(async () => {
      const made = this.#pins.current.filter((pin) => pins.some((each) => isMadeAs(pin, each)));
      if (made.length > 0)
        await this.#unpin(
          made.map(({ origin }) => origin),
          lifting,
        );
    });
  }

  /** A pin of every origin leaves these sites to the browser from now on, with their subdomains, and these origins. */
  async leaveSites(sites: readonly string[]): Promise<void> {
    await this.#change(async () => {
      if (JSON.stringify(sites) === JSON.stringify(this.#routing.leftSites)) return;
      this.#routing.leftSites = sites;
      await this.#savePins();
      if (!this.#helper || !this.#routing.everyOrigin) return;
      await this.#routeOrLift();
      this.#pins.updatePeriods(this.#routing.everyOrigin);
    });
  }

  /** Adopts persistent pins, which the command line may have created while no browser was running. */
  async handleBrowserStart(): Promise<void> {
    await this.#change(async () => {
      if (this.#helper || !(await hasPinPermissions())) return;
      // Without a helper, or beside another proxy, this session has no pins to lose.
      await this.#adoptPins([]).catch(() => {});
    });
  }

  async #unpin(origins: readonly string[], lifting: Lifting): Promise<void> {
    this.#pins.remove(origins);
    const helper = this.#helper;
    let report: HelperPins | null = null;
    try {
      // The browser first: the helper then closes its tunnels, and the browser must not reopen them.
      if (helper) await this.#routeOrLift(lifting);
      for (const origin of origins) if (helper) report = await this.#ask(helper, { type: 'unpin', origin });
    } finally {
      if (report) await this.#apply(report);
      await this.#savePins();
    }
  }

  /** The user revoked a permission. */
  async handlePermissionRemoval(): Promise<void> {
    await this.#ready;
    if (this.#helper && !(await hasPinPermissions())) {
      await this.#liftAll(t('pinsRevoked'));
    }
  }

  /** @throws Error with a message to show when no pins are possible at all */
  async #checkAllowed(): Promise<void> {
    if (!(await hasPinPermissions())) throw new ShownError(() => t('pinsNotAllowed'));
    await this.#checkSteering();
  }

  async #checkSteering(): Promise<void> {
    const obstacle = await this.#steering.findObstacle();
    if (obstacle) throw new ShownError(() => t(obstacle));
  }

  async #restore(): Promise<void> {
    // A worker that has just started has no helper. If the last worker could not clean up, the proxy settings are still changed.
    await this.#steering
      .clearRoute()
      .catch((error) => console.error('hopwise: proxy settings were not restored:', error));
    const [{ pins, leftSites }, persistent] = await Promise.all([loadPins(), hasPersistentPins()]);
    this.#routing.leftSites = leftSites;
    this.#pins.addLifted(pins.filter(({ state }) => state === 'lifted'));
    const unexpired = pins.filter((pin) => pin.state !== 'lifted' && !isExpired(pin));
    if (pins.length === 0 && !persistent) {
      this.#isRestored = true;
      return;
    }
    this.#restoring = this.#queue
      .run(async () => {
        try {
          if ((unexpired.length > 0 || persistent) && (await hasPinPermissions()))
            await this.#adoptPins(unexpired);
        } catch (error) {
          this.#pins.addLifted(unexpired, await describeError(error));
          await this.#savePins();
        } finally {
          this.#closeIfIdle();
          this.#isRestored = true;
          // Some may be missing for good.
          this.#tell();
        }
      })
      // Who waits for it only waits.
      .catch(report);
  }

  /** Recreates the pins of the previous worker and adopts the persistent ones of the helper. */
  async #adoptPins(pins: PinState[]): Promise<void> {
    await this.#checkSteering();
    const helper = await this.#open();
    for (const pin of pins.filter(({ persistent }) => !persistent))
      await this.#ask(helper, { type: 'pin', ...renewedPin(pin) });
    await this.#apply(await this.#ask(helper, { type: 'pins' }));
  }

  #ask(helper: HelperConnection, request: HelperPinRequest): Promise<HelperPins> {
    return helper.request(request, ANSWER_LIMIT_MS, (message) => {
      if (message.type !== 'pins') return undefined;
      this.#newest = message;
      return message;
    });
  }

  /** Starts the helper if it is not running. While it runs, the language is loaded: pins are lifted at once, with their reason. */
  async #open(): Promise<HelperConnection> {
    if (this.#helper) return this.#helper;
    await loadLanguage();
    const helper = this.#connect({
      onPins: (message) => {
        this.#newest = message;
        void this.#queue.run(() => this.#applyUpdate(message));
      },
      onExchanges: (origin, exchanges) => this.#onExchanges?.(origin, exchanges),
      onEnd: (why) => void this.#liftAll(why.message),
    });
    // Nothing waits for the answer, which pins do not need; a refusal ends the connection, which lifts the pins.
    helper.greet(null).catch(() => {});
    this.#helper = helper;
    return helper;
  }

  /** Closes the helper's port when nothing is pinned, at once or, if connections may be open through it, after `LINGER_MS`. */
  #closeIfIdle(): void {
    clearTimeout(this.#linger);
    if (this.#pins.current.length > 0) return;
    if (this.#routing.hasRouted) this.#linger = setTimeout(() => this.#close(), LINGER_MS);
    else this.#close();
  }

  #close(): void {
    clearTimeout(this.#linger);
    this.#routing.hasRouted = false;
    this.#trials.endAll();
    this.#helper?.close(new HelperError('cancelled', () => t('pinsRemovedMeanwhile')));
    this.#helper = null;
  }

  async #apply(message: HelperPins): Promise<void> {
    if (!this.#helper) return;
    this.#caHosts = message.caHosts;
    this.#launcher = message.launcher;
    this.#trials.setHosts(
      message.trials.filter((host) => isPinnable(`https://${host}`)),
      message.trialToken,
    );
    this.#routing.applyReport(message);
    await this.#routeOrLift();
    this.#pins.updatePeriods(this.#routing.everyOrigin);
    const persistent = this.#pins.current.some(({ persistent }) => persistent);
    await Promise.all([setHasPersistentPins(persistent), this.#savePins()]);
  }

  async #applyUpdate(message: HelperPins): Promise<void> {
    if (message !== this.#newest) return;
    try {
      await this.#apply(message);
    } catch (error) {
      report(error);
    } finally {
      this.#closeIfIdle();
    }
  }

  #routeLater(): void {
    void this.#queue.run(() => this.#routeOrLift()).catch(report);
  }

  async #routeOrLift(lifting: Lifting = {}): Promise<void> {
    try {
      await this.#route(lifting);
    } catch (error) {
      await this.#liftAll(messageOf(error));
      throw error;
    }
  }

  async #route(lifting: Lifting): Promise<void> {
    await this.#routing.route(lifting);
    // The helper may have ended, and all pins with it, while the browser applied the settings.
    if (!this.#helper) await this.#steering.clearRoute();
    else this.#trials.startDue();
  }

  /** Does not wait for its turn: pages must not hang on a proxy that no longer runs. */
  async #liftAll(reason: string): Promise<void> {
    this.#close();
    this.#pins.liftAll(reason);
    try {
      await this.#steering.clearRoute();
    } finally {
      await this.#savePins();
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #savePins(): Promise<void> {
    this.#tell();
    return savePins({ pins: this.#pins.all, leftSites: [...this.#routing.leftSites] });
  }

  /** Changes pins after the changes before, then ends a helper without pins. @returns the pins afterwards */
  async #change(change: () => Promise<void>): Promise<PinState[]> {
    await this.#ready;
    return this.#queue.run(async () => {
      try {
        await change();
      } finally {
        this.#closeIfIdle();
      }
      return this.#pins.all;
    });
  }
}

function report(error: unknown): void {
  console.error('hopwise: pins:', error);
}
