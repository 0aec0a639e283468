import { plural } from '../language/translate.ts';
import { type Erased, sendMemoryRequest } from '../messages/memory-messages.ts';
import type { Settings } from '../storage/settings.ts';

/** The user's settings as the options page knows them. */
export class SettingsClient {
  #settings: Settings;
  readonly #onChanged: () => void;

  /** @param onChanged called after each change, which may have erased loads */
  constructor(settings: Settings, onChanged: () => void) {
    this.#settings = settings;
    this.#onChanged = onChanged;
  }

  get current(): Settings {
    return this.#settings;
  }

  /** @returns a sentence about what the change erased, or why it failed; '' when there is nothing to say */
  async change(change: Partial<Settings>): Promise<string> {
    const answer = await sendMemoryRequest({ type: 'change-settings', change });
    if (!answer.ok) return answer.error;
    this.#settings = answer.settings;
    this.#onChanged();
    return describeErasedLoads(answer.erased);
  }
}

function describeErasedLoads({ loads }: Erased): string {
  return loads === 0 ? '' : plural('erasedLoads', loads);
}
