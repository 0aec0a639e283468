import { PROTOCOL_NAME } from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { sendLoadRequest, type VerificationState, type WhichLoad } from '../messages/load-messages.ts';
import { renderButton, renderStatus } from './controls.ts';
import { builder } from './dom.ts';

const POLL_MS = 500;

/** The button that verifies a load with real transfers, its progress and its failures. */
export class VerifyControl {
  readonly element: HTMLElement;
  /** How far the verification is, or why it failed. */
  readonly state: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #progress: HTMLProgressElement;
  readonly #status: HTMLElement;
  readonly #onDone: () => void;
  #which: WhichLoad;
  readonly #isShort: boolean;
  #running = false;
  #polling = false;

  /**
   * @param onDone called when a verification that this page observed has succeeded
   * @param isShort whether the button is one of a toolbar, which shows `state` elsewhere
   */
  constructor(which: WhichLoad, onDone: () => void, isShort = false) {
    const el = builder();
    this.#which = which;
    this.#onDone = onDone;
    this.#isShort = isShort;
    this.#button = renderButton('', () => this.#click(), {
      class: 'hw-button hw-button-primary',
      title: t('verifyCosts'),
    });
    this.#progress = el('progress', { class: 'hw-progress', max: '1', value: '0' });
    this.#progress.hidden = true;
    this.#status = renderStatus();
    this.state = el('div', { class: 'hw-verify-state' }, this.#progress, this.#status);
    this.element = el('div', { class: 'hw-verify' }, this.#button, isShort ? null : this.state);
    this.#label();
  }

  /** Shows a verification that is running or has failed. */
  async resume(): Promise<void> {
    const answer = await sendLoadRequest({ type: 'verification', ...this.#which });
    if (answer.ok && answer.state !== 'done') this.#show(answer);
    if (answer.ok && answer.state === 'running') await this.#poll();
  }

  async #click(): Promise<void> {
    if (this.#running) {
      await sendLoadRequest({ type: 'cancel-verification' });
      return;
    }
    const answer = await sendLoadRequest({ type: 'verify', ...this.#which });
    if (!answer.ok) {
      this.#status.textContent = answer.error;
      return;
    }
    this.#show(answer);
    await this.#poll();
  }

  async #poll(): Promise<void> {
    // The page may show the load again in the meantime and call `resume` a second time.
    if (this.#polling) return;
    this.#polling = true;
    try {
      await this.#pollUntilEnd();
    } finally {
      this.#polling = false;
    }
  }

  async #pollUntilEnd(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const answer = await sendLoadRequest({ type: 'verification', ...this.#which });
      if (!answer.ok) {
        this.#show({ state: 'none' });
        this.#status.textContent = answer.error;
        return;
      }
      this.#show(answer);
      if (answer.state === 'done') this.#onDone();
      if (answer.state !== 'running') return;
    }
  }

  #label(): void {
    const name = this.#running ? t('verifyStop') : t('verifyButton');
    this.#button.textContent = this.#isShort && !this.#running ? t('verifyShort') : name;
    this.#button.setAttribute('aria-label', name);
  }

  #show(state: VerificationState): void {
    this.#running = state.state === 'running';
    this.#label();
    this.#button.classList.toggle('hw-button-primary', !this.#running);
    this.#progress.hidden = !this.#running;
    this.#status.textContent = describeState(state);
    if (state.state === 'running') {
      this.#progress.value = state.allTransfers > 0 ? state.doneTransfers / state.allTransfers : 0;
    }
  }
}

function describeState(state: VerificationState): string {
  switch (state.state) {
    case 'running': {
      if (state.protocol === 'starting') return t('verifyStarting');
      return t('verifyProgress', {
        protocol: state.protocol === 'assigned' ? t('verifyMixed') : PROTOCOL_NAME[state.protocol],
        round: state.round + 1,
        done: state.doneTransfers,
        all: state.allTransfers,
      });
    }
    case 'failed':
      return state.message;
    default:
      return '';
  }
}
