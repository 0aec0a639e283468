/** IndexedDB in memory, in which each test finds no load and no item of the extension. */
import * as fake from 'fake-indexeddb';
import { beforeEach } from 'vitest';
import { removeLoads } from '../../src/storage/loads.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';

const { default: _, ...interfaces } = fake;
Object.assign(globalThis, interfaces, { indexedDB: new fake.IDBFactory() });

beforeEach(async () => {
  await removeLoads(() => true);
  await ownStorage.remove(Object.keys(await ownStorage.get(null)));
});
