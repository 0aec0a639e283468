import { greetHelper } from './ask-helper.ts';
import type { Hello } from './helper-connection.ts';
import { HelperError } from './helper-port.ts';

/** While it is missing: a person who installs it sees it found at once. */
const LOOK_AGAIN_MS = 2_000;

/** Whether the helper is installed, as one page of the extension knows it. */
export class HelperWatch {
  readonly #greet: () => Promise<Hello>;
  readonly #listeners: (() => void)[] = [];
  /** Null until it was looked for. */
  #isMissing: boolean | null = null;
  #hello: Hello | null = null;
  #problem = '';
  #isLooking = false;

  constructor(greet: () => Promise<Hello> = greetHelper) {
    this.#greet = greet;
  }

  /** Whether it is surely not installed. */
  get isMissing(): boolean {
    return this.#isMissing === true;
  }

  /** Its greeting; null where it gave none. */
  get hello(): Hello | null {
    return this.#hello;
  }

  /** Why it gave no greeting, '' otherwise. */
  get problem(): string {
    return this.#problem;
  }

  /** @param listener called after every look that changed what is known */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Looks for it unless that was done before, and again by itself for as long as it is missing. Looking starts the helper. */
  async lookOnce(): Promise<void> {
    if (this.#isMissing === null) await this.look();
  }

  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const before = `${this.#isMissing} ${this.#problem}`;
    try {
      this.#hello = await this.#greet();
      this.#problem = '';
      this.#isMissing = false;
    } catch (error) {
      this.#hello = null;
      this.#problem = (error as Error).message;
      this.#isMissing = error instanceof HelperError && error.code === 'no-helper';
    }
    this.#isLooking = false;
    if (this.#isMissing) setTimeout(() => void this.#lookAgain(), LOOK_AGAIN_MS);
    if (before !== `${this.#isMissing} ${this.#problem}`) for (const listener of this.#listeners) listener();
  }

  async #lookAgain(): Promise<void> {
    if (document.hidden) setTimeout(() => void this.#lookAgain(), LOOK_AGAIN_MS);
    else await this.look();
  }
}
