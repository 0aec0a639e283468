import {
  type AutopilotAnswer,
  type AutopilotRequest,
  type NetworkState,
  sendAutopilotRequest,
} from '../autopilot-messages.ts';
import type { Learned } from '../learning/learned.ts';
import type { AutopilotRun } from '../runs/autopilot-run.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';

const POLL_INTERVAL_MS = 2000;

/** The autopilot as a page of the extension knows it. */
export class AutopilotClient {
  #answer: AutopilotAnswer;
  readonly #listeners: (() => void)[] = [];

  /** @param answer the worker's answer to `autopilot` */
  constructor(answer: AutopilotAnswer) {
    this.#answer = answer;
    setInterval(() => {
      if (!document.hidden) void this.#send({ type: 'autopilot' });
    }, POLL_INTERVAL_MS);
  }

  get settings(): AutopilotSettings {
    return this.#answer.settings;
  }

  /** Newest first. */
  get runs(): readonly AutopilotRun[] {
    return this.#answer.runs;
  }

  /** What trials compare. */
  get learned(): readonly Learned[] {
    return this.#answer.learned;
  }

  /** The network that the browser is on. */
  get network(): NetworkState {
    return this.#answer.network;
  }

  /** @param listener called after every change */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @returns '' or why it failed */
  changeSettings(change: Partial<AutopilotSettings>): Promise<string> {
    return this.#send({ type: 'change-autopilot', change });
  }

  /** Keeps HTTP/3 off on the network that the browser is on, or allows it. @returns '' or why it failed */
  switchNetwork(keepsOffH3: boolean): Promise<string> {
    return this.#send({ type: 'switch-network', keepsOffH3 });
  }

  /** Removes all pins that the autopilot made. @returns '' or why it failed */
  undoAll(): Promise<string> {
    return this.#send({ type: 'undo-autopilot' });
  }

  /** Forgets what loads on a network have shown. @returns '' or why it failed */
  eraseLearned({ key, place }: Pick<Learned, 'key' | 'place'>): Promise<string> {
    return this.#send({ type: 'erase-learned', key, place });
  }

  async #send(request: AutopilotRequest): Promise<string> {
    const answer = await sendAutopilotRequest(request);
    if (!answer.ok) return answer.error;
    const isNew = JSON.stringify(answer) !== JSON.stringify(this.#answer);
    this.#answer = answer;
    if (isNew) for (const listener of this.#listeners) listener();
    return '';
  }
}
