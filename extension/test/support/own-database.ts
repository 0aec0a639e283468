/** IndexedDB in memory, in which each test finds no load and no item of the extension. */
import 'fake-indexeddb/auto';
import { beforeEach } from 'vitest';
import { removeLoads } from '../../src/storage/loads.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';

beforeEach(async () => {
  await removeLoads(() => true);
  await ownStorage.remove(Object.keys(await ownStorage.get(null)));
});
