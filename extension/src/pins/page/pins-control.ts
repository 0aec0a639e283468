import {
  type Decision,
  EVERY_ORIGIN,
  groupBy,
  type PinKind,
  type PinState,
  type Protocol,
} from '@hopwise/contract';
import { type PlainKey, t } from '../../language/translate.ts';
import { renderButton, renderSelect, renderStatus } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { formatOrigin, nameVersion } from '../../ui/format.ts';
import type { PinLifetime } from '../pin-messages.ts';
import type { PlannedPin } from '../plan-pins.ts';
import { CA_INSTRUCTIONS_ID, renderCaInstructions } from './ca-instructions.ts';
import { isRedundant, suggestPins } from './pin-suggestions.ts';
import { describeOutcome, describePin, isUseless } from './pin-text.ts';
import type { PinsModel } from './pins-model.ts';

/** Lifetimes that the user can choose from; the first is the default. */
const LIFETIMES: { name: PlainKey; lifetime: PinLifetime }[] = [
  { name: 'lifetimeWorkday', lifetime: { minutes: 8 * 60, persistent: false } },
  { name: 'lifetimeHour', lifetime: { minutes: 60, persistent: false } },
  { name: 'lifetimeSession', lifetime: { minutes: null, persistent: false } },
  { name: 'lifetimeEndless', lifetime: { minutes: null, persistent: true } },
];

/** Pins by origin: buttons for each origin of a worthwhile action, and the lists of all pins. */
export class PinsControl {
  readonly element: HTMLElement;
  /** Pins that have ended by themselves, with the reasons: for a place that is in sight without scrolling. */
  readonly lifted: HTMLElement;
  readonly #el = builder();
  readonly #model: PinsModel;
  readonly #hold: HTMLElement;
  /** Shown while a pin to a protocol is offered. */
  readonly #certificateNote: HTMLElement;
  readonly #list: HTMLElement;
  readonly #instructions: HTMLElement;
  readonly #status: HTMLElement;
  readonly #actions = new Map<string, { holder: HTMLElement; kinds: PinKind[] }>();
  #loadId: number | null = null;
  /** The pin whose requirements are explained at the moment. */
  #explained: { origin: string; protocol: Protocol | 'auto' } | null = null;

  constructor(model: PinsModel) {
    const el = this.#el;
    this.#model = model;
    const select = renderSelect(
      LIFETIMES.map(({ name }, index) => [String(index), t(name)] as const),
      {
        onChange: (index) => {
          model.lifetime = (LIFETIMES[Number(index)] ?? LIFETIMES[0]!).lifetime;
        },
      },
    );
    this.#certificateNote = el('p', { class: 'hw-note' }, t('pinCertificate'));
    this.#hold = el(
      'div',
      {},
      el('label', { class: 'hw-note hw-pins-hold' }, `${t('lifetimeLabel')} `, select),
      el('p', { class: 'hw-note' }, t('pinResolver')),
      this.#certificateNote,
    );
    this.#list = el('ul', { class: 'hw-pins' });
    this.lifted = el('ul', { class: 'hw-pins' });
    this.#status = renderStatus();
    this.#instructions = el('div', {});
    this.element = el('section', {}, this.#hold, this.#instructions, this.#list, this.#status);
    model.onChange(() => this.#update());
    this.#render();
  }

  /**
   * Clears the origins of the load shown before.
   *
   * @param loadId the load shown now, null for none: an open explanation stays open while this is the same
   */
  resetOrigins(loadId: number | null): void {
    this.#actions.clear();
    if (loadId !== this.#loadId) {
      this.#explained = null;
      void this.#model.refreshOutcomes();
    }
    this.#loadId = loadId;
    this.#render();
  }

  /** Buttons that pin an origin or remove its pin; null where no worthwhile action pins it. */
  renderAction(origin: string, decision: Decision): HTMLElement | null {
    const kinds = suggestPins(decision, origin);
    if (!this.#model.findActive(origin) && kinds.length === 0) return null;
    const holder = this.#el('span', { class: 'hw-pin' });
    this.#actions.set(origin, { holder, kinds });
    this.#update();
    return holder;
  }

  #update(): void {
    this.#render();
    // Only if an offer depends on the answer, because asking starts the helper.
    const matters = [...this.#actions.values()].some(({ kinds }) =>
      kinds.some((kind) => kind !== 'avoid-h3'),
    );
    if (matters) void this.#model.requestCaHosts();
  }

  /** @param change returns why it was refused */
  async #change(change: Promise<string>, words = ''): Promise<void> {
    this.#status.textContent = words;
    this.#status.textContent = await change;
  }

  #render(): void {
    const focused = this.#findFocusedOrigin();
    const offered = [...this.#actions].flatMap(([origin, { kinds }]) =>
      this.#model.findActive(origin) ? [] : this.#listOpen(origin, kinds),
    );
    this.#hold.hidden = !this.#model.isAllowed || offered.length === 0;
    this.#certificateNote.hidden = offered.every((kind) => kind === 'avoid-h3');
    if (this.#model.refusal !== '') this.#status.textContent = this.#model.refusal;
    for (const [origin, { holder, kinds }] of this.#actions) {
      holder.replaceChildren(...this.#renderButtons(origin, kinds));
    }
    const isLifted = ({ state }: PinState) => state === 'lifted';
    this.#showPins(
      this.#list,
      this.#model.pins.filter((pin) => !isLifted(pin)),
    );
    this.#showPins(this.lifted, this.#model.pins.filter(isLifted));
    this.#renderInstructions();
    // The focused button was replaced.
    if (focused) this.#actions.get(focused)?.holder.querySelector('button')?.focus();
  }

  #renderInstructions(): void {
    const { origin, protocol } = this.#explained ?? {};
    if (!origin || !protocol || this.#model.isCoveredByCa(origin) || this.#model.findActive(origin)) {
      this.#explained = null;
      this.#instructions.replaceChildren();
      return;
    }
    // Rendering again would drop a text selection inside.
    const shown = `${origin} ${protocol} ${this.#model.caHosts} ${this.#model.problem}`;
    if (this.#instructions.dataset.shown === shown && this.#instructions.hasChildNodes()) return;
    this.#instructions.dataset.shown = shown;
    const onClose = () => {
      this.#explained = null;
      this.#render();
      this.#actions.get(origin)?.holder.querySelector<HTMLElement>('[aria-expanded]')?.focus();
    };
    this.#instructions.replaceChildren(
      renderCaInstructions({
        origins: [origin],
        version: nameVersion(protocol),
        button: t('pinTo', { protocol: nameVersion(protocol) }),
        caHosts: this.#model.caHosts ?? [],
        launcher: this.#model.launcher,
        problem: this.#model.problem,
        onClose,
      }),
    );
  }

  #findFocusedOrigin(): string | undefined {
    const { activeElement } = document;
    return [...this.#actions].find(([, { holder }]) => holder.contains(activeElement))?.[0];
  }

  #renderButtons(origin: string, kinds: readonly PinKind[]): HTMLElement[] {
    const pin = this.#model.findActive(origin);
    if (pin) return [this.#unpinButton(t('pinStateRemove', { state: describeState(pin) }), [origin])];
    if (!this.#model.isAllowed) return [];
    return this.#listOpen(origin, kinds).flatMap((kind) => {
      const [words, label] = namePin(kind, origin);
      if (kind === 'avoid-h3' || this.#model.isCoveredByCa(origin)) {
        return [this.#linkButton(words, label, () => this.#createPin({ origin, kind }))];
      }
      const isKnown = this.#model.caHosts !== null || this.#model.problem !== '';
      return isKnown && !isRedundant(kind, kinds)
        ? [this.#explainButton(t('pinMore', { words }), label, origin, kind)]
        : [];
    });
  }

  /** The kinds of pins that would change something. */
  #listOpen(origin: string, kinds: readonly PinKind[]): PinKind[] {
    return kinds.filter((kind) => !this.#model.findMade({ origin, kind }));
  }

  #explainButton(words: string, label: string, origin: string, protocol: Protocol | 'auto'): HTMLElement {
    const isOpen = this.#explained?.origin === origin;
    const button = this.#linkButton(words, t('pinRequirements', { words: label }), () => {
      this.#explained = isOpen ? null : { origin, protocol };
      this.#render();
      document.getElementById(`${CA_INSTRUCTIONS_ID}-title`)?.focus();
    });
    button.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) button.setAttribute('aria-controls', CA_INSTRUCTIONS_ID);
    return button;
  }

  #createPin(pin: PlannedPin): void {
    void this.#change(this.#model.makePins([pin]), t('pinning'));
  }

  /** Lists pins, together those of which the same can be said. */
  #showPins(list: HTMLElement, pins: readonly PinState[]): void {
    const groups = groupBy(pins, (pin) => {
      const outcome = this.#model.findOutcome(pin);
      return `${describePin({ ...pin, origin: pin.origin === EVERY_ORIGIN ? EVERY_ORIGIN : '' })} ${outcome && describeOutcome(outcome)} ${pin.isAddressRefused ? pin.origin : ''}`;
    });
    list.replaceChildren(...[...groups.values()].map((group) => this.#renderItem(group)));
    list.hidden = groups.size === 0;
  }

  #renderItem(pins: readonly PinState[]): HTMLElement {
    const pin = pins[0]!;
    const outcome = pin.state === 'active' ? this.#model.findOutcome(pin) : undefined;
    const [remove, lift] = pins.length === 1 ? [t('remove'), t('pinLift')] : [t('removeAll'), t('pinsLift')];
    const words = pin.state === 'lifted' ? t('dismiss') : isUseless(outcome) ? lift : remove;
    const origins = pins.map(({ origin }) => origin);
    return this.#el(
      'li',
      { class: `hw-pin-${pin.state}` },
      describePin(pin, Date.now(), pins.length),
      outcome
        ? this.#el('span', { class: `hw-outcome hw-outcome-${outcome.effect}` }, describeOutcome(outcome))
        : null,
      pins.length > 1
        ? this.#el('span', { class: 'hw-pins-names' }, origins.map(formatOrigin).join(', '))
        : null,
      ...(pin.isAddressRefused ? [' ', this.#allowLocalButton(pin)] : []),
      ' ',
      this.#unpinButton(words, origins),
    );
  }

  #allowLocalButton({ origin, kind }: PinState): HTMLButtonElement {
    const words = t('pinAllowLocal');
    return this.#linkButton(words, `${words}: ${origin}`, () =>
      this.#createPin({ origin, kind, allowLocal: true }),
    );
  }

  #unpinButton(words: string, origins: readonly string[]): HTMLButtonElement {
    return this.#linkButton(
      words,
      t('buttonOf', { words, origins: origins.join(', ') }),
      () => void this.#change(this.#model.removePins(origins)),
    );
  }

  #linkButton(words: string, label: string, onClick: () => void): HTMLButtonElement {
    const button = renderButton(words, onClick, { class: 'hw-link', 'aria-label': label });
    // Not `disabled`: a disabled button loses the focus.
    if (this.#model.isBusy) button.setAttribute('aria-disabled', 'true');
    return button;
  }
}

function describeState({ kind, state }: PinState): string {
  if (kind === 'avoid-h3') return state === 'waiting' ? t('pinStateWillAvoid') : t('pinStateAvoids');
  const values = { protocol: nameVersion(kind) };
  return state === 'waiting' ? t('pinStateWillHold', values) : t('pinStateHeld', values);
}

/** The words of the button that makes a pin, and its label, which names the origin. */
function namePin(kind: PinKind, origin: string): [string, string] {
  if (kind === 'avoid-h3') return [t('pinAvoid'), t('pinAvoidFor', { origin })];
  const protocol = nameVersion(kind);
  return [t('pinTo', { protocol }), t('pinToFor', { origin, protocol })];
}
