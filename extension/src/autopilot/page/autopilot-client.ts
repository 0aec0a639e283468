import type { Act } from '../autopilot/act.ts';
import {
  type AutopilotAnswer,
  type AutopilotRequest,
  sendAutopilotRequest,
} from '../autopilot/autopilot-messages.ts';
import type { AutopilotSettings } from '../autopilot/autopilot-settings.ts';
import type { Learnt } from '../autopilot/learnt.ts';

const POLL_INTERVAL_MS = 2000;

/** The autopilot as the options page knows it. */
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
  get acts(): readonly Act[] {
    return this.#answer.acts;
  }

  /** What trials compare. */
  get learnt(): readonly Learnt[] {
    return this.#answer.learnt;
  }

  /** @param listener called after every change */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @returns '' or why it failed */
  changeSettings(change: Partial<AutopilotSettings>): Promise<string> {
    return this.#send({ type: 'change-autopilot', change });
  }

  /** Removes all pins that the autopilot made. @returns '' or why it failed */
  undoAll(): Promise<string> {
    return this.#send({ type: 'undo-autopilot' });
  }

  /** Forgets what loads on a network have shown. @returns '' or why it failed */
  eraseLearnt({ key, place }: Pick<Learnt, 'key' | 'place'>): Promise<string> {
    return this.#send({ type: 'erase-learnt', key, place });
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
