import { PROTOCOL_NAME } from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { sendLoadRequest, type VerificationState, type WhichLoad } from '../messages/load-messages.ts';
import { renderButton, renderStatus } from './controls.ts';
import { builder } from './dom.ts';

const POLL_MS = 500;

/** The button that verifies a load with real transfers, its progress and its failures. */
export class VerifyControl {
  readonly element: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #progress: HTMLProgressElement;
  readonly #status: HTMLElement;
  readonly #onDone: () => void;
  #which: WhichLoad;
  #running = false;
  #polling = false;

  /** @param onDone called when a verification that this page observed has succeeded */
  constructor(which: WhichLoad, onDone: () => void) {
    const el = builder();
    this.#which = which;
    this.#onDone = onDone;
    this.#button = renderButton(t('verifyButton'), () => this.#click(), {
      class: 'hw-button hw-button-primary',
      title: t('verifyCosts'),
    });
    this.#progress = el('progress', { class: 'hw-progress', max: '1', value: '0' });
    this.#progress.hidden = true;
    this.#status = renderStatus();
    this.element = el('div', { class: 'hw-verify' }, this.#button, this.#progress, this.#status);
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

  #show(state: VerificationState): void {
    this.#running = state.state === 'running';
    this.#button.textContent = this.#running ? t('verifyStop') : t('verifyButton');
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
