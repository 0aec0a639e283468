import type { PinState } from '@hopwise/native-host/messages';
import type { OriginRecommendation } from '@hopwise/pageload-emulator';
import { ask, type PageRequest, type PinsAnswer, type Refusal } from '../messages/page-messages.ts';
import { askToAllowPins } from '../pins/pin-permissions.ts';
import { builder } from '../views/dom.ts';
import { pinInWords } from '../views/pins.ts';

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
  'computer, still encrypted from the browser to the server: the helper cannot read them. For that hopwise needs to change ' +
  'this browser’s proxy settings for pinned origins, and to show the helper’s proxy that it is this browser that asks.';

/** Pins by origin: a button for each origin that is better off without HTTP/3, and the list of all that there are. */
export class PinsControl {
  readonly element: HTMLElement;
  readonly #el = builder();
  readonly #offer: HTMLElement;
  readonly #hold: HTMLElement;
  readonly #select: HTMLSelectElement;
  readonly #list: HTMLElement;
  readonly #says: HTMLElement;
  readonly #actions = new Map<string, HTMLElement>();
  #allowed = false;
  #pins: PinState[] = [];
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
    this.element = el('section', {}, this.#offer, this.#hold, this.#list, this.#says);
    this.#draw();
    void this.#look();
    setInterval(() => void this.#look(), LOOK_EVERY_MS);
  }

  /** Forgets the origins of the load shown before. */
  begin(): void {
    this.#actions.clear();
    this.#draw();
  }

  /** What can be done about an origin; null where pins are of no use to it. */
  actionFor(origin: OriginRecommendation): HTMLElement | null {
    const pinned = this.#pins.some((pin) => pin.origin === origin.origin && pin.state !== 'lifted');
    if (!pinned && !isBetterOffHttp3(origin)) return null;
    const holder = this.#el('span', { class: 'hw-pin' });
    this.#actions.set(origin.origin, holder);
    this.#draw();
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
    this.#draw();
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
    const unpinned = [...this.#actions.keys()].filter((origin) => !this.#activeOf(origin));
    this.#offer.hidden = this.#allowed || unpinned.length === 0;
    this.#hold.hidden = !this.#allowed || unpinned.length === 0;
    for (const [origin, holder] of this.#actions) holder.replaceChildren(...this.#actionOf(origin));
    this.#list.replaceChildren(...this.#pins.map((pin) => this.#item(pin)));
  }

  #activeOf(origin: string): PinState | undefined {
    return this.#pins.find((pin) => pin.origin === origin && pin.state !== 'lifted');
  }

  #actionOf(origin: string): HTMLElement[] {
    const pin = this.#activeOf(origin);
    if (pin)
      return [this.#button(pin.kind === 'avoid-h3' ? 'Kept off HTTP/3: lift' : 'Pinned: lift', origin)];
    if (!this.#allowed) return [];
    const button = this.#link('Keep off HTTP/3', `Keep ${origin} off HTTP/3`, () => {
      const { minutes, persistent } = HOLDS[Number(this.#select.value)] ?? HOLDS[0]!;
      void this.#change({ type: 'pin', origin, kind: 'avoid-h3', minutes, persistent });
    });
    return [button];
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
    button.disabled = this.#busy;
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

/** Whether HTTP/3 was tried for the origin, and another version is surely faster. */
function isBetterOffHttp3({ origin, decided, protocol, pltMs }: OriginRecommendation): boolean {
  return origin.startsWith('https://') && decided && protocol !== 'h3' && pltMs.h3 !== undefined;
}
