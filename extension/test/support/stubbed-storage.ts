/** A `chrome.storage` area in memory. */
export class StubbedStorage {
  items: Record<string, unknown> = {};

  async get(key: string | null = null): Promise<Record<string, unknown>> {
    return structuredClone(key === null ? this.items : { [key]: this.items[key] });
  }

  async set(items: Record<string, unknown>): Promise<void> {
    Object.assign(this.items, structuredClone(items));
  }

  async remove(keys: string | string[]): Promise<void> {
    for (const key of [keys].flat()) delete this.items[key];
  }
}
