/**
 * An item of the browser's storage, read once in the life of the worker, or of a page of the extension: the browser reports what
 * changes it afterwards.
 */
export class StoredItem<T> {
  readonly #area: 'local' | 'session';
  readonly #key: string;
  readonly #parse: (stored: unknown) => T;
  /** What has been read, by the browser's object for the area. */
  readonly #values = new WeakMap<chrome.storage.StorageArea, Promise<T>>();
  readonly #watched = new WeakSet<chrome.storage.StorageArea>();

  /** @param parse of what is stored; gets undefined for nothing. What it throws `read` throws, each time anew */
  constructor(area: 'local' | 'session', key: string, parse: (stored: unknown) => T) {
    this.#area = area;
    this.#key = key;
    this.#parse = parse;
  }

  /** The value must not be changed: the next reader gets the same one. */
  read(): Promise<T> {
    const area = chrome.storage[this.#area];
    const known = this.#values.get(area);
    if (known) return known;
    this.#watch(area);
    const value = area.get(this.#key).then((stored) => this.#parse(stored[this.#key]));
    this.#values.set(area, value);
    value.catch(() => this.#values.delete(area));
    return value;
  }

  async write(value: T & {}): Promise<void> {
    const area = chrome.storage[this.#area];
    await area.set({ [this.#key]: value });
    // The browser's report may come after the next read.
    this.#values.delete(area);
  }

  async remove(): Promise<void> {
    const area = chrome.storage[this.#area];
    await area.remove(this.#key);
    this.#values.delete(area);
  }

  #watch(area: chrome.storage.StorageArea): void {
    if (this.#watched.has(area)) return;
    this.#watched.add(area);
    area.onChanged.addListener((changes) => {
      if (this.#key in changes) this.#values.delete(area);
    });
  }
}
