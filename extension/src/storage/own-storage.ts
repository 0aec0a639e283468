import { openDatabase } from './database.ts';

/** The parts of `chrome.storage.StorageArea` in use. */
export interface ItemArea {
  /** @param key null for all items */
  get(key: string | null): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  remove(keys: string | string[]): Promise<void>;
  readonly onChanged: { addListener(listener: (changes: Record<string, unknown>) => void): void };
}

type Listener = Parameters<ItemArea['onChanged']['addListener']>[0];

/** The extension's own pages and its worker tell each other by it which items have changed. */
const CHANNEL = 'hopwise-items';

class OwnStorage implements ItemArea {
  readonly #listeners = new Set<Listener>();
  #channel: BroadcastChannel | null = null;

  /** Reports changes by others a moment after they are made, those by this context before they are done. */
  readonly onChanged = {
    addListener: (listener: Listener) => {
      this.#listeners.add(listener);
      this.#openChannel();
    },
  };

  async get(key: string | null): Promise<Record<string, unknown>> {
    const database = await openDatabase();
    if (key !== null) return { [key]: await database.get('items', key) };
    const { store } = database.transaction('items');
    const [keys, values] = await Promise.all([store.getAllKeys(), store.getAll()]);
    return Object.fromEntries(keys.map((name, index) => [name, values[index]]));
  }

  async set(items: Record<string, unknown>): Promise<void> {
    const { store, done } = (await openDatabase()).transaction('items', 'readwrite');
    await Promise.all([...Object.entries(items).map(([key, value]) => store.put(value, key)), done]);
    this.#report(Object.keys(items));
  }

  async remove(keys: string | string[]): Promise<void> {
    const names = [keys].flat();
    const { store, done } = (await openDatabase()).transaction('items', 'readwrite');
    await Promise.all([...names.map((name) => store.delete(name)), done]);
    this.#report(names);
  }

  #report(names: readonly string[]): void {
    this.#tell(names);
    this.#openChannel().postMessage(names);
  }

  #tell(names: readonly string[]): void {
    const changes = Object.fromEntries(names.map((name) => [name, {}]));
    for (const listener of this.#listeners) listener(changes);
  }

  #openChannel(): BroadcastChannel {
    if (this.#channel === null) {
      this.#channel = new BroadcastChannel(CHANNEL);
      this.#channel.onmessage = ({ data }) => this.#tell(data);
    }
    return this.#channel;
  }
}

/**
 * What the extension keeps besides page loads, by name. Not in `chrome.storage.local`, which in Firefox every content script may read
 * and change, and so a page that has captured its process: IndexedDB and BroadcastChannel of a content script are those of its page.
 */
export const ownStorage: ItemArea = new OwnStorage();
