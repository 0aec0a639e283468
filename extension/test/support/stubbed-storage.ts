import type { ItemArea } from '../../src/storage/own-storage.ts';

type Listener = (changes: Record<string, chrome.storage.StorageChange>) => void;

/** An area of `chrome.storage` in memory, or in place of `ownStorage`. */
export class StubbedStorage implements ItemArea {
  items: Record<string, unknown> = {};
  /** Number of calls of `get`. */
  reads = 0;
  readonly #listeners: Listener[] = [];
  readonly onChanged = { addListener: (listener: Listener) => void this.#listeners.push(listener) };

  async get(key: string | null = null): Promise<Record<string, unknown>> {
    this.reads += 1;
    return structuredClone(key === null ? this.items : { [key]: this.items[key] });
  }

  async set(items: Record<string, unknown>): Promise<void> {
    Object.assign(this.items, structuredClone(items));
    this.#report(Object.keys(items));
  }

  async remove(keys: string | string[]): Promise<void> {
    for (const key of [keys].flat()) delete this.items[key];
    this.#report([keys].flat());
  }

  #report(keys: readonly string[]): void {
    const changes = Object.fromEntries(keys.map((key) => [key, {}]));
    for (const listener of this.#listeners) listener(changes);
  }
}
