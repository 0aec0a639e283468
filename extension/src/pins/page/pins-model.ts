import { EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import type { PinOutcome } from '../../evidence/pin-outcomes.ts';
import { t } from '../../language/translate.ts';
import type { Refusal } from '../../messages/send-request.ts';
import { type PinLifetime, type PinRequest, type PinsAnswer, sendPinRequest } from '../pin-messages.ts';
import { requestPinPermissions } from '../pin-permissions.ts';
import type { PlannedPin } from '../plan-pins.ts';

const POLL_INTERVAL_MS = 1000;

/** All pins as the worker knows them, for the views of one page of the extension. */
export class PinsModel {
  /** Lifetime of new pins. */
  lifetime: PinLifetime = { minutes: 8 * 60, persistent: false };
  #allowed = false;
  #pins: PinState[] = [];
  #caHosts: string[] | null = null;
  #launcher: string | null = null;
  #outcomes: PinOutcome[] = [];
  /** Whether the helper was asked which hosts the local CA covers, and why it gave no answer. */
  #hasAsked = false;
  #problem = '';
  #refusal = '';
  #isBusy = false;
  #shown = '';
  readonly #listeners: (() => void)[] = [];

  constructor() {
    void this.#poll();
    setInterval(() => void this.#poll(), POLL_INTERVAL_MS);
  }

  /** Whether the browser has granted the permissions that pins need. */
  get isAllowed(): boolean {
    return this.#allowed;
  }

  get pins(): readonly PinState[] {
    return this.#pins;
  }

  /** Hosts that the local CA covers; null until the helper has answered. */
  get caHosts(): readonly string[] | null {
    return this.#caHosts;
  }

  /** Absolute path of the helper's launcher; null until the helper has answered. */
  get launcher(): string | null {
    return this.#launcher;
  }

  /** Why the helper could not be asked, '' otherwise. */
  get problem(): string {
    return this.#problem;
  }

  /** Why the worker gave no answer, '' otherwise. */
  get refusal(): string {
    return this.#refusal;
  }

  /** Whether a change is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** @param listener called after every change */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  findActive(origin: string): PinState | undefined {
    return this.#pins.find((pin) => pin.origin === origin && pin.state !== 'lifted');
  }

  /** What already does for an origin as a planned pin would: a pin of its own, or that of `EVERY_ORIGIN`. */
  findMade({ origin, kind }: PlannedPin): PinState | undefined {
    const own = this.findActive(origin);
    if (own) return own.kind === kind ? own : undefined;
    return kind === 'avoid-h3' ? this.findActive(EVERY_ORIGIN) : undefined;
  }

  /** What a pin gained, where loads show it. */
  findOutcome({ origin, kind }: PlannedPin): PinOutcome | undefined {
    return this.#outcomes.find((each) => each.origin === origin && each.kind === kind);
  }

  isCoveredByCa(origin: string): boolean {
    return this.#caHosts?.includes(new URL(origin).hostname) ?? false;
  }

  /** Asks the helper once which hosts its CA covers: asking starts it. Does nothing until pins are allowed. */
  async requestCaHosts(): Promise<void> {
    if (this.#hasAsked || !this.#allowed) return;
    this.#hasAsked = true;
    const answer = await sendPinRequest({ type: 'pins', fresh: true });
    if (answer.ok) this.#apply(answer);
    else {
      this.#problem = answer.error;
      this.#notify();
    }
  }

  async refreshOutcomes(): Promise<void> {
    const answer = await sendPinRequest({ type: 'pin-outcomes' });
    if (!answer.ok) return;
    this.#outcomes = answer.outcomes;
    this.#notify();
  }

  /** Shows the browser's permission prompt; must run in a click handler. @returns '' or why pins are not allowed */
  async allow(): Promise<string> {
    let problem = '';
    try {
      if (!(await requestPinPermissions())) problem = t('pinsNeedPermissions');
    } catch {
      // Some browsers cannot show the permission prompt for a page inside DevTools.
      problem = t('pinsAskElsewhere');
    }
    await this.#poll();
    return problem;
  }

  /** Makes all of the pins, or none of them. Does nothing during another change. @returns '' or why they were refused */
  makePins(planned: readonly PlannedPin[]): Promise<string> {
    const pins = planned.filter((pin) => !this.findMade(pin));
    return this.#change({ type: 'pin', pins, ...this.lifetime });
  }

  /** Removes origins' pins, or dismisses lifted ones. Does nothing during another change. @returns '' or why one was not removed */
  removePins(origins: readonly string[]): Promise<string> {
    return this.#change({ type: 'unpin', origins: [...origins] });
  }

  async #change(request: Extract<PinRequest, { type: 'pin' | 'unpin' }>): Promise<string> {
    if (this.#isBusy) return '';
    this.#isBusy = true;
    this.#notify();
    const answer = await sendPinRequest(request);
    this.#apply(answer.ok ? answer : await sendPinRequest({ type: 'pins' }));
    this.#isBusy = false;
    this.#notify();
    return answer.ok ? '' : answer.error;
  }

  async #poll(): Promise<void> {
    if (document.hidden || this.#isBusy) return;
    this.#apply(await sendPinRequest({ type: 'pins' }));
  }

  #apply(answer: PinsAnswer | Refusal): void {
    const now = JSON.stringify(answer);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#refusal = answer.ok ? '' : answer.error;
    if (answer.ok) {
      this.#allowed = answer.allowed;
      this.#pins = answer.pins;
      this.#caHosts = answer.caHosts;
      this.#launcher = answer.launcher;
    }
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
