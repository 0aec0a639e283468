import { type PinKind, type PinState, PROTOCOL_NAME, type Protocol } from '@hopwise/contract';
import type { OriginRecommendation } from '@hopwise/pageload-emulator';
import type { Refusal } from '../../messages/load-messages.ts';
import { builder } from '../../ui/dom.ts';
import { type PinRequest, type PinsAnswer, sendPinRequest } from '../pin-messages.ts';
import { requestPinPermissions } from '../pin-permissions.ts';
import { CA_INSTRUCTIONS_ID, renderCaInstructions } from './ca-instructions.ts';
import { isRedundant, suggestPins } from './pin-suggestions.ts';
import { CERTIFICATE_NOTE, describePin, RESOLVER_NOTE } from './pin-text.ts';

const POLL_INTERVAL_MS = 1000;

/** Lifetimes that the user can choose from; the first is the default. */
const LIFETIMES = [
  { words: 'for 8 hours', minutes: 8 * 60, persistent: false },
  { words: 'for an hour', minutes: 60, persistent: false },
  { words: 'until the browser is closed', minutes: null, persistent: false },
  { words: 'until I remove it', minutes: null, persistent: true },
];

const OFFER =
  'hopwise can make this browser avoid HTTP/3 for an origin where another version is faster. Connections to that origin then ' +
  'pass through the helper on this computer. They stay encrypted from the browser to the server: the helper cannot read them. ' +
  'hopwise can also pin an origin to one version; it explains what that requires and risks before it changes anything. Pins ' +
  'need permission to set this browser’s proxy for pinned origins and to log in to the helper’s proxy.';

/** Pins by origin: buttons for each origin that loads faster under another version, and the list of all pins. */
export class PinsControl {
  readonly element: HTMLElement;
  readonly #el = builder();
  readonly #offer: HTMLElement;
  readonly #hold: HTMLElement;
  /** Shown while a pin to a protocol is offered. */
  readonly #certificateNote: HTMLElement;
  readonly #select: HTMLSelectElement;
  readonly #list: HTMLElement;
  readonly #instructions: HTMLElement;
  readonly #status: HTMLElement;
  readonly #actions = new Map<string, { holder: HTMLElement; kinds: PinKind[] }>();
  #loadId: number | null = null;
  #allowed = false;
  #pins: PinState[] = [];
  #vouched: string[] | null = null;
  /** Whether the helper was asked which hosts the local CA covers, and why it gave no answer. */
  #hasAsked = false;
  #problem = '';
  /** The pin whose requirements are explained at the moment. */
  #explained: { origin: string; protocol: Protocol } | null = null;
  #shown = '';
  #busy = false;

  constructor() {
    const el = this.#el;
    const allow = el('button', { type: 'button', class: 'hw-button' }, 'Allow pins');
    allow.addEventListener('click', () => void this.#allow());
    this.#offer = el('div', { class: 'hw-pins-offer' }, el('p', { class: 'hw-note' }, OFFER), allow);
    this.#select = el(
      'select',
      { class: 'hw-select' },
      ...LIFETIMES.map(({ words }, index) => el('option', { value: String(index) }, words)),
    );
    this.#certificateNote = el('p', { class: 'hw-note' }, CERTIFICATE_NOTE);
    this.#hold = el(
      'div',
      {},
      el('label', { class: 'hw-note hw-pins-hold' }, 'New pins last ', this.#select),
      el('p', { class: 'hw-note' }, RESOLVER_NOTE),
      this.#certificateNote,
    );
    this.#list = el('ul', { class: 'hw-pins' });
    this.#status = el('p', { class: 'hw-note', role: 'status' });
    this.#instructions = el('div', {});
    this.element = el('section', {}, this.#offer, this.#hold, this.#instructions, this.#list, this.#status);
    this.#render();
    void this.#poll();
    setInterval(() => void this.#poll(), POLL_INTERVAL_MS);
  }

  /**
   * Clears the origins of the load shown before.
   *
   * @param loadId the load shown now, null for none: an open explanation stays open while this is the same
   */
  resetOrigins(loadId: number | null): void {
    this.#actions.clear();
    if (loadId !== this.#loadId) this.#explained = null;
    this.#loadId = loadId;
    this.#render();
  }

  /**
   * Buttons that pin an origin or remove its pin; null where no pin would make it faster.
   *
   * @param inUse the protocol that carried its requests, if known
   */
  renderAction(origin: OriginRecommendation, inUse?: Protocol): HTMLElement | null {
    const kinds = suggestPins(origin, inUse);
    if (!this.#findActive(origin.origin) && kinds.length === 0) return null;
    const holder = this.#el('span', { class: 'hw-pin' });
    this.#actions.set(origin.origin, { holder, kinds });
    this.#render();
    void this.#requestVouched();
    return holder;
  }

  async #poll(): Promise<void> {
    if (document.hidden || this.#busy) return;
    this.#applyAnswer(await sendPinRequest({ type: 'pins' }));
  }

  #applyAnswer(answer: PinsAnswer | Refusal): void {
    if (!answer.ok) {
      this.#status.textContent = answer.error;
      return;
    }
    const now = JSON.stringify(answer);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#allowed = answer.allowed;
    this.#pins = answer.pins;
    this.#vouched = answer.vouched;
    this.#render();
    void this.#requestVouched();
  }

  /** Asks once, and only if an offer depends on the answer, because asking starts the helper. */
  async #requestVouched(): Promise<void> {
    const matters = [...this.#actions.values()].some(({ kinds }) =>
      kinds.some((kind) => kind !== 'avoid-h3'),
    );
    if (this.#hasAsked || !this.#allowed || !matters) return;
    this.#hasAsked = true;
    const answer = await sendPinRequest({ type: 'pins', fresh: true });
    if (answer.ok) this.#applyAnswer(answer);
    else {
      this.#problem = answer.error;
      this.#render();
    }
  }

  async #allow(): Promise<void> {
    try {
      if (await requestPinPermissions()) this.#status.textContent = '';
      else this.#status.textContent = 'Pins need these permissions. Everything else works without them.';
    } catch {
      // Some browsers cannot show the permission prompt for a page inside DevTools.
      this.#status.textContent =
        'The browser cannot ask for permissions here. Open the hopwise popup and choose “Allow pins” there.';
    }
    await this.#poll();
  }

  /** Does nothing while another change is under way. */
  async #change(request: Extract<PinRequest, { type: 'pin' | 'unpin' }>): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    this.#status.textContent = request.type === 'pin' ? 'Pinning…' : '';
    this.#render();
    const answer = await sendPinRequest(request);
    this.#busy = false;
    this.#status.textContent = '';
    this.#shown = '';
    this.#applyAnswer(answer);
    this.#render();
  }

  #render(): void {
    const focused = this.#findFocusedOrigin();
    const offered = [...this.#actions].filter(
      ([origin, { kinds }]) => !this.#findActive(origin) && kinds.length > 0,
    );
    this.#offer.hidden = this.#allowed || offered.length === 0;
    this.#hold.hidden = !this.#allowed || offered.length === 0;
    this.#certificateNote.hidden = !offered.some(([, { kinds }]) =>
      kinds.some((kind) => kind !== 'avoid-h3'),
    );
    for (const [origin, { holder, kinds }] of this.#actions) {
      holder.replaceChildren(...this.#renderButtons(origin, kinds));
    }
    this.#list.replaceChildren(...this.#pins.map((pin) => this.#renderItem(pin)));
    this.#renderInstructions();
    // The focused button was replaced.
    if (focused) this.#actions.get(focused)?.holder.querySelector('button')?.focus();
  }

  #renderInstructions(): void {
    const { origin, protocol } = this.#explained ?? {};
    if (!origin || !protocol || this.#isVouched(origin) || this.#findActive(origin)) {
      this.#explained = null;
      this.#instructions.replaceChildren();
      return;
    }
    // Rendering again would drop a text selection inside.
    const shown = `${origin} ${protocol} ${this.#vouched} ${this.#problem}`;
    if (this.#instructions.dataset.shown === shown && this.#instructions.hasChildNodes()) return;
    this.#instructions.dataset.shown = shown;
    const onClose = () => {
      this.#explained = null;
      this.#render();
      this.#actions.get(origin)?.holder.querySelector<HTMLElement>('[aria-expanded]')?.focus();
    };
    const vouched = this.#vouched ?? [];
    this.#instructions.replaceChildren(
      renderCaInstructions({ origin, protocol, vouched, problem: this.#problem, onClose }),
    );
  }

  #findFocusedOrigin(): string | undefined {
    const { activeElement } = document;
    return [...this.#actions].find(([, { holder }]) => holder.contains(activeElement))?.[0];
  }

  #findActive(origin: string): PinState | undefined {
    return this.#pins.find((pin) => pin.origin === origin && pin.state !== 'lifted');
  }

  #isVouched(origin: string): boolean {
    return this.#vouched?.includes(new URL(origin).hostname) ?? false;
  }

  #renderButtons(origin: string, kinds: readonly PinKind[]): HTMLElement[] {
    const pin = this.#findActive(origin);
    if (pin) return [this.#unpinButton(`${describeState(pin)}: remove pin`, origin)];
    if (!this.#allowed) return [];
    return kinds.flatMap((kind) => {
      const words = kind === 'avoid-h3' ? 'Avoid HTTP/3' : `Pin to ${PROTOCOL_NAME[kind]}`;
      const label =
        kind === 'avoid-h3' ? `Avoid HTTP/3 for ${origin}` : `Pin ${origin} to ${PROTOCOL_NAME[kind]}`;
      if (kind === 'avoid-h3' || this.#isVouched(origin)) {
        return [this.#linkButton(words, label, () => this.#createPin(origin, kind))];
      }
      const isKnown = this.#vouched !== null || this.#problem !== '';
      return isKnown && !isRedundant(kind, kinds)
        ? [this.#explainButton(`${words}…`, label, origin, kind)]
        : [];
    });
  }

  #explainButton(words: string, label: string, origin: string, protocol: Protocol): HTMLElement {
    const isOpen = this.#explained?.origin === origin;
    const button = this.#linkButton(words, `${label}: requirements`, () => {
      this.#explained = isOpen ? null : { origin, protocol };
      this.#render();
      document.getElementById(`${CA_INSTRUCTIONS_ID}-title`)?.focus();
    });
    button.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) button.setAttribute('aria-controls', CA_INSTRUCTIONS_ID);
    return button;
  }

  #createPin(origin: string, kind: PinKind, allowLocal?: true): void {
    const { minutes, persistent } = LIFETIMES[Number(this.#select.value)] ?? LIFETIMES[0]!;
    void this.#change({ type: 'pin', origin, kind, minutes, persistent, ...(allowLocal && { allowLocal }) });
  }

  #renderItem(pin: PinState): HTMLElement {
    const buttons = [this.#unpinButton(pin.state === 'lifted' ? 'Dismiss' : 'Remove', pin.origin)];
    if (pin.isAddressRefused) buttons.unshift(this.#allowLocalButton(pin));
    const spaced = buttons.flatMap((button) => [' ', button]);
    return this.#el('li', { class: `hw-pin-${pin.state}` }, describePin(pin), ...spaced);
  }

  #allowLocalButton({ origin, kind }: PinState): HTMLButtonElement {
    const words = 'Allow this local origin';
    return this.#linkButton(words, `${words}: ${origin}`, () => this.#createPin(origin, kind, true));
  }

  #unpinButton(words: string, origin: string): HTMLButtonElement {
    return this.#linkButton(words, `${words} ${origin}`, () => void this.#change({ type: 'unpin', origin }));
  }

  #linkButton(words: string, label: string, onClick: () => void): HTMLButtonElement {
    const button = this.#el('button', { type: 'button', class: 'hw-link', 'aria-label': label }, words);
    // Not `disabled`: a disabled button loses the focus.
    if (this.#busy) button.setAttribute('aria-disabled', 'true');
    button.addEventListener('click', onClick);
    return button;
  }
}

function describeState({ kind, state }: PinState): string {
  if (kind === 'avoid-h3') return state === 'waiting' ? 'Waiting to avoid HTTP/3' : 'Avoids HTTP/3';
  return state === 'waiting' ? `Waiting for ${PROTOCOL_NAME[kind]}` : `Pinned to ${PROTOCOL_NAME[kind]}`;
}
