import type { PinKind, PinState } from '@hopwise/contract';
import type { OriginRecommendation, Protocol } from '@hopwise/pageload-emulator';
import { ask, type PageRequest, type PinsAnswer, type Refusal } from '../../messages/page-messages.ts';
import { builder } from '../../ui/dom.ts';
import { PROTOCOL_NAME } from '../../ui/format.ts';
import { CA_STEPS_ID, caSteps } from './ca-instructions.ts';
import { askToAllowPins } from '../pin-permissions.ts';
import { pinInWords } from './pin-text.ts';
import { isSpared, usefulPins } from './pin-suggestions.ts';

const LOOK_EVERY_MS = 1000;

/** How long a pin may hold; the first is what is offered. */
const HOLDS = [
  { words: 'for 8 hours', minutes: 8 * 60, persistent: false },
  { words: 'for an hour', minutes: 60, persistent: false },
  { words: 'until the browser is closed', minutes: null, persistent: false },
  { words: 'until I lift it', minutes: null, persistent: true },
];

const OFFER =
  'hopwise can keep an origin off HTTP/3 where another version is faster. Its connections then go through the helper on this ' +
  'computer, still encrypted from the browser to the server: the helper cannot read them. It can also hold an origin to one ' +
  'version; what that takes, and risks, is said before anything is done. For pins hopwise needs to change this browser’s proxy ' +
  'settings for pinned origins, and to show the helper’s proxy that it is this browser that asks.';

/** Pins by origin: buttons for each origin that is better off under another version, and the list of all that there are. */
export class PinsControl {
  readonly element: HTMLElement;
  readonly #el = builder();
  readonly #offer: HTMLElement;
  readonly #hold: HTMLElement;
  readonly #select: HTMLSelectElement;
  readonly #list: HTMLElement;
  readonly #steps: HTMLElement;
  readonly #says: HTMLElement;
  readonly #actions = new Map<string, { holder: HTMLElement; kinds: PinKind[] }>();
  #loadId: number | null = null;
  #allowed = false;
  #pins: PinState[] = [];
  #vouched: string[] | null = null;
  /** Whether the helper was asked for which hosts there is a CA, and why it did not say. */
  #hasAsked = false;
  #problem = '';
  /** Which pin it is explained for what it takes. */
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
      ...HOLDS.map(({ words }, index) => el('option', { value: String(index) }, words)),
    );
    this.#hold = el('label', { class: 'hw-note hw-pins-hold' }, 'A pin made now holds ', this.#select);
    this.#list = el('ul', { class: 'hw-pins' });
    this.#says = el('p', { class: 'hw-note', role: 'status' });
    this.#steps = el('div', {});
    this.element = el('section', {}, this.#offer, this.#hold, this.#steps, this.#list, this.#says);
    this.#draw();
    void this.#look();
    setInterval(() => void this.#look(), LOOK_EVERY_MS);
  }

  /**
   * Forgets the origins that were shown before.
   *
   * @param loadId of what is shown now, null for nothing: what is explained stays while it is the same
   */
  begin(loadId: number | null): void {
    this.#actions.clear();
    if (loadId !== this.#loadId) this.#explained = null;
    this.#loadId = loadId;
    this.#draw();
  }

  /**
   * What can be done about an origin; null where pins are of no use to it.
   *
   * @param inUse what carried its requests, where that is known
   */
  actionFor(origin: OriginRecommendation, inUse?: Protocol): HTMLElement | null {
    const kinds = usefulPins(origin, inUse);
    if (!this.#activeOf(origin.origin) && kinds.length === 0) return null;
    const holder = this.#el('span', { class: 'hw-pin' });
    this.#actions.set(origin.origin, { holder, kinds });
    this.#draw();
    void this.#askForVouched();
    return holder;
  }

  async #look(): Promise<void> {
    if (document.hidden || this.#busy) return;
    this.#take(await answerTo({ type: 'pins' }));
  }

  #take(answer: PinsAnswer | Refusal): void {
    if (!answer.ok) {
      this.#says.textContent = answer.error;
      return;
    }
    const now = JSON.stringify(answer);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#allowed = answer.allowed;
    this.#pins = answer.pins;
    this.#vouched = answer.vouched;
    this.#draw();
    void this.#askForVouched();
  }

  /** Once, and only where it matters: the helper has to be started for it. */
  async #askForVouched(): Promise<void> {
    const matters = [...this.#actions.values()].some(({ kinds }) =>
      kinds.some((kind) => kind !== 'avoid-h3'),
    );
    if (this.#hasAsked || !this.#allowed || !matters) return;
    this.#hasAsked = true;
    const answer = await answerTo({ type: 'pins', fresh: true });
    if (answer.ok) this.#take(answer);
    else {
      this.#problem = answer.error;
      this.#draw();
    }
  }

  async #allow(): Promise<void> {
    try {
      if (await askToAllowPins()) this.#says.textContent = '';
      else this.#says.textContent = 'Without these permissions there are no pins; everything else works.';
    } catch {
      // Some browsers do not ask from within DevTools.
      this.#says.textContent = 'The browser does not ask from here: allow pins in hopwise’s popup.';
    }
    await this.#look();
  }

  /** One change at a time. */
  async #change(request: Extract<PageRequest, { type: 'pin' | 'unpin' }>): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    this.#says.textContent = request.type === 'pin' ? 'Pinning…' : '';
    this.#draw();
    const answer = await answerTo(request);
    this.#busy = false;
    this.#says.textContent = '';
    this.#shown = '';
    this.#take(answer);
    this.#draw();
  }

  #draw(): void {
    const focused = this.#focusedOrigin();
    const offered = [...this.#actions].filter(
      ([origin, { kinds }]) => !this.#activeOf(origin) && kinds.length > 0,
    );
    this.#offer.hidden = this.#allowed || offered.length === 0;
    this.#hold.hidden = !this.#allowed || offered.length === 0;
    for (const [origin, { holder, kinds }] of this.#actions) {
      holder.replaceChildren(...this.#actionsOf(origin, kinds));
    }
    this.#list.replaceChildren(...this.#pins.map((pin) => this.#item(pin)));
    this.#drawSteps();
    // What had the focus is gone.
    if (focused) this.#actions.get(focused)?.holder.querySelector('button')?.focus();
  }

  #drawSteps(): void {
    const { origin, protocol } = this.#explained ?? {};
    if (!origin || !protocol || this.#isVouched(origin) || this.#activeOf(origin)) {
      this.#explained = null;
      this.#steps.replaceChildren();
      return;
    }
    // Anything that is selected in it stays so.
    const shown = `${origin} ${protocol} ${this.#vouched} ${this.#problem}`;
    if (this.#steps.dataset.shown === shown && this.#steps.hasChildNodes()) return;
    this.#steps.dataset.shown = shown;
    const onClose = () => {
      this.#explained = null;
      this.#draw();
      this.#actions.get(origin)?.holder.querySelector<HTMLElement>('[aria-expanded]')?.focus();
    };
    const vouched = this.#vouched ?? [];
    this.#steps.replaceChildren(caSteps({ origin, protocol, vouched, problem: this.#problem, onClose }));
  }

  #focusedOrigin(): string | undefined {
    const { activeElement } = document;
    return [...this.#actions].find(([, { holder }]) => holder.contains(activeElement))?.[0];
  }

  #activeOf(origin: string): PinState | undefined {
    return this.#pins.find((pin) => pin.origin === origin && pin.state !== 'lifted');
  }

  #isVouched(origin: string): boolean {
    return this.#vouched?.includes(new URL(origin).hostname) ?? false;
  }

  #actionsOf(origin: string, kinds: readonly PinKind[]): HTMLElement[] {
    const pin = this.#activeOf(origin);
    if (pin) return [this.#button(`${stateWords(pin)}: lift`, origin)];
    if (!this.#allowed) return [];
    return kinds.flatMap((kind) => {
      const words = kind === 'avoid-h3' ? 'Keep off HTTP/3' : `Hold to ${PROTOCOL_NAME[kind]}`;
      const label =
        kind === 'avoid-h3' ? `Keep ${origin} off HTTP/3` : `Hold ${origin} to ${PROTOCOL_NAME[kind]}`;
      if (kind === 'avoid-h3' || this.#isVouched(origin)) {
        return [this.#link(words, label, () => this.#pin(origin, kind))];
      }
      const isKnown = this.#vouched !== null || this.#problem !== '';
      return isKnown && !isSpared(kind, kinds) ? [this.#explainer(`${words}…`, label, origin, kind)] : [];
    });
  }

  #explainer(words: string, label: string, origin: string, protocol: Protocol): HTMLElement {
    const isOpen = this.#explained?.origin === origin;
    const button = this.#link(words, `${label}: what it takes`, () => {
      this.#explained = isOpen ? null : { origin, protocol };
      this.#draw();
      document.getElementById(`${CA_STEPS_ID}-title`)?.focus();
    });
    button.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) button.setAttribute('aria-controls', CA_STEPS_ID);
    return button;
  }

  #pin(origin: string, kind: PinKind): void {
    const { minutes, persistent } = HOLDS[Number(this.#select.value)] ?? HOLDS[0]!;
    void this.#change({ type: 'pin', origin, kind, minutes, persistent });
  }

  #item(pin: PinState): HTMLElement {
    const lift = this.#button(pin.state === 'lifted' ? 'Dismiss' : 'Lift', pin.origin);
    return this.#el('li', { class: `hw-pin-${pin.state}` }, pinInWords(pin), ' ', lift);
  }

  #button(words: string, origin: string): HTMLButtonElement {
    return this.#link(words, `${words} ${origin}`, () => void this.#change({ type: 'unpin', origin }));
  }

  #link(words: string, label: string, onClick: () => void): HTMLButtonElement {
    const button = this.#el('button', { type: 'button', class: 'hw-link', 'aria-label': label }, words);
    // One that is disabled would lose the focus.
    if (this.#busy) button.setAttribute('aria-disabled', 'true');
    button.addEventListener('click', onClick);
    return button;
  }
}

/** A worker that is stopped meanwhile gives no answer. */
function answerTo(
  request: Extract<PageRequest, { type: 'pins' | 'pin' | 'unpin' }>,
): Promise<PinsAnswer | Refusal> {
  return ask(request).catch((error: Error): Refusal => ({ ok: false, error: error.message }));
}

function stateWords({ kind, state }: PinState): string {
  if (kind === 'avoid-h3') return state === 'waiting' ? 'Waits to be kept off HTTP/3' : 'Kept off HTTP/3';
  return state === 'waiting' ? `Waits for ${PROTOCOL_NAME[kind]}` : `Held to ${PROTOCOL_NAME[kind]}`;
}
