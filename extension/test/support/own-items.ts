/**
 * What `ownStorage` of the extension keeps, for tests in a browser. These functions run in a page of the extension, from their source
 * text: they can use nothing from outside.
 */

/** Sets items as another page of the extension would. */
export async function setOwnItems(items: Record<string, unknown>): Promise<void> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await done(indexedDB.open('hopwise'));
  const store = database.transaction('items', 'readwrite').objectStore('items');
  for (const [key, value] of Object.entries(items)) await done(store.put(value, key));
  database.close();
  const channel = new BroadcastChannel('hopwise-items');
  channel.postMessage(Object.keys(items));
  channel.close();
}

/** Reads all items. */
export async function readOwnItems(): Promise<Record<string, unknown>> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await done(indexedDB.open('hopwise'));
  const store = database.transaction('items').objectStore('items');
  const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
  database.close();
  return Object.fromEntries(keys.map((key, index) => [key, values[index]]));
}
