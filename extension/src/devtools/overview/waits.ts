import { PROTOCOLS, type Prediction, type Protocol, type Recording } from '@hopwise/contract';
import type { Explanation } from '@hopwise/pageload-emulator';
import { builder } from '../../ui/dom.ts';
import { renderCriticalChain } from '../graph/critical-chain.ts';

const el = builder();

/** More than these, and the overview would no longer be one. */
const MAX_STEPS = 6;

/** What the load event waits for longest, in order of time; empty until the load is emulated. */
export class Waits {
  readonly element = el('div', { class: 'hw-waits' });
  readonly #recording: Recording;
  readonly #prediction: Prediction;
  readonly #protocol: Protocol;
  readonly #onSelect: () => void;

  /** @param onSelect called when a step is chosen */
  constructor(recording: Recording, prediction: Prediction, protocol: Protocol, onSelect: () => void) {
    this.#recording = recording;
    this.#prediction = prediction;
    this.#protocol = protocol;
    this.#onSelect = onSelect;
  }

  setExplanation(explained: Explanation['protocols']): void {
    const loading = PROTOCOLS.filter((each) => 'criticalPath' in explained[each]);
    const protocol = loading.includes(this.#protocol) ? this.#protocol : loading[0];
    const own = protocol && explained[protocol];
    if (!own || !('criticalPath' in own)) return;
    this.element.replaceChildren(
      renderCriticalChain(this.#recording, this.#prediction, own, protocol, this.#onSelect, MAX_STEPS),
    );
  }
}
