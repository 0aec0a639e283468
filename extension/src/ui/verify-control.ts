import { ask, type VerificationState, type WhichLoad } from '../messages/page-messages.ts';
import { builder } from './dom.ts';
import { PROTOCOL_NAME } from './format.ts';

const POLL_MS = 500;

/** The button that verifies a load with real transfers, its progress and its failures. */
export class VerifyControl {
  readonly element: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #progress: HTMLProgressElement;
  readonly #says: HTMLElement;
  readonly #onDone: () => void;
  #which: WhichLoad;
  #running = false;
  #watching = false;

  /** @param onDone called when a verification that this page has watched has ended well */
  constructor(which: WhichLoad, onDone: () => void) {
    const el = builder();
    this.#which = which;
    this.#onDone = onDone;
    this.#button = el(
      'button',
      { type: 'button', class: 'hw-button hw-button-primary', title: COSTS },
      VERIFY,
    );
    this.#progress = el('progress', { class: 'hw-progress', max: '1', value: '0' });
    this.#progress.hidden = true;
    this.#says = el('p', { class: 'hw-note', role: 'status' });
    this.element = el('div', { class: 'hw-verify' }, this.#button, this.#progress, this.#says);
    this.#button.addEventListener('click', () => void this.#click());
  }

  /** Picks up a verification that is running or has failed. */
  async resume(): Promise<void> {
    const answer = await ask({ type: 'verification', ...this.#which });
    if (answer.ok && answer.state !== 'done') this.#show(answer);
    if (answer.ok && answer.state === 'running') await this.#watch();
  }

  async #click(): Promise<void> {
    if (this.#running) {
      await ask({ type: 'cancel-verification' });
      return;
    }
    const answer = await ask({ type: 'verify', ...this.#which });
    if (!answer.ok) {
      this.#says.textContent = answer.error;
      return;
    }
    this.#show(answer);
    await this.#watch();
  }

  async #watch(): Promise<void> {
    // The page shows the load anew meanwhile, which resumes what is watched already.
    if (this.#watching) return;
    this.#watching = true;
    try {
      await this.#watchToTheEnd();
    } finally {
      this.#watching = false;
    }
  }

  async #watchToTheEnd(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const answer = await ask({ type: 'verification', ...this.#which });
      if (!answer.ok) {
        this.#show({ state: 'none' });
        this.#says.textContent = answer.error;
        return;
      }
      this.#show(answer);
      if (answer.state === 'done') this.#onDone();
      if (answer.state !== 'running') return;
    }
  }

  #show(state: VerificationState): void {
    this.#running = state.state === 'running';
    this.#button.textContent = this.#running ? 'Stop' : VERIFY;
    this.#button.classList.toggle('hw-button-primary', !this.#running);
    this.#progress.hidden = !this.#running;
    this.#says.textContent = inWords(state);
    if (state.state === 'running') {
      this.#progress.value = state.allTransfers > 0 ? state.doneTransfers / state.allTransfers : 0;
    }
  }
}

const VERIFY = 'Verify with real transfers';
const COSTS = 'Asks for this page again under each protocol, without cookies: at most three times its data.';

function inWords(state: VerificationState): string {
  switch (state.state) {
    case 'running': {
      if (state.protocol === null) return 'Starting the helper…';
      const done = `${state.doneTransfers} of ${state.allTransfers} transfers`;
      return `${PROTOCOL_NAME[state.protocol]}, round ${state.round + 1}: ${done}`;
    }
    case 'failed':
      return state.message;
    default:
      return '';
  }
}
