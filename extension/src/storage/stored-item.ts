import { type ItemArea, ownStorage } from './own-storage.ts';

/** `own` outlives the browser, see `ownStorage`; `session` is in memory only, and gone when the browser closes. */
type AreaName = 'own' | 'session';

/**
 * A stored item, read once in the life of the worker, or of a page of the extension: what changes it afterwards is
 * reported.
 */
export class StoredItem<T> {
  readonly #area: AreaName;
  readonly #key: string;
  readonly #parse: (stored: unknown) => T;
  /** What has been read, by the area's object. */
  readonly #values = new WeakMap<ItemArea, Promise<T>>();
  readonly #watched = new WeakSet<ItemArea>();

  /** @param parse of what is stored; gets undefined for nothing. What it throws `read` throws, each time anew */
  constructor(area: AreaName, key: string, parse: (stored: unknown) => T) {
    this.#area = area;
    this.#key = key;
    this.#parse = parse;
  }

  /** The value must not be changed: the next reader gets the same one. */
  read(): Promise<T> {
    const area = this.#findArea();
    const known = this.#values.get(area);
    if (known) return known;
    this.#watch(area);
    const value = area.get(this.#key).then((stored) => this.#parse(stored[this.#key]));
    this.#values.set(area, value);
    value.catch(() => this.#values.delete(area));
    return value;
  }

  async write(value: T & {}): Promise<void> {
    const area = this.#findArea();
    await area.set({ [this.#key]: value });
    // The report may come after the next read.
    this.#values.delete(area);
  }

  async remove(): Promise<void> {
    const area = this.#findArea();
    await area.remove(this.#key);
    this.#values.delete(area);
  }

  #findArea(): ItemArea {
    return this.#area === 'own' ? ownStorage : chrome.storage.session;
  }

  #watch(area: ItemArea): void {
    if (this.#watched.has(area)) return;
    this.#watched.add(area);
    area.onChanged.addListener((changes) => {
      if (this.#key in changes) this.#values.delete(area);
    });
  }
}
