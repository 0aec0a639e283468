import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { LoadSummary } from '../load/load-summary.ts';
import type { StoredLoad } from '../load/stored-load.ts';

/** Earlier ones, which were not released, stored query strings, or no summaries. */
const VERSION = 5;

interface Schema extends DBSchema {
  loads: { key: number; value: StoredLoad; indexes: { storedAtMs: number } };
  /** One for each load. */
  summaries: { key: number; value: LoadSummary };
  /** By name, see `ownStorage`. */
  items: { key: string; value: unknown };
}

let opened: Promise<IDBPDatabase<Schema>> | null = null;

/** Opens the extension's database, which pages and their content scripts cannot reach: it is of the extension's own origin. */
export function openDatabase(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>('hopwise', VERSION, {
    upgrade(db) {
      for (const name of [...db.objectStoreNames]) db.deleteObjectStore(name);
      const loads = db.createObjectStore('loads', { keyPath: 'id', autoIncrement: true });
      loads.createIndex('storedAtMs', 'storedAtMs');
      db.createObjectStore('summaries', { keyPath: 'id' });
      db.createObjectStore('items');
    },
    terminated() {
      opened = null;
    },
  }).catch((error) => {
    // Opening may succeed later, for example when the disk is no longer full.
    opened = null;
    throw error;
  });
  return opened;
}
