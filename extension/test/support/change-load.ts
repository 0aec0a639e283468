import type { StoredLoad } from '../../src/storage/loads.ts';

/** Changes fields of a stored load. Runs in a page of the extension, from its source text: it can use nothing from outside. */
export async function changeLoad({ id, ...change }: Partial<StoredLoad> & { id: number }): Promise<void> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await done(indexedDB.open('hopwise'));
  const store = database.transaction('loads', 'readwrite').objectStore('loads');
  await done(store.put({ ...(await done(store.get(id))), ...change }));
  database.close();
}
