import { type LoadSummary, summariseLoad } from '../../src/load/load-summary.ts';
import type { StoredLoad } from '../../src/storage/loads.ts';

interface SummarisedLoad {
  load: StoredLoad;
  summary: LoadSummary;
}

/** The argument of `putLoad`. */
export const withSummary = (load: StoredLoad): SummarisedLoad => ({ load, summary: summariseLoad(load) });

/** Replaces a stored load. Runs in a page of the extension, from its source text: it can use nothing from outside. */
export async function putLoad({ load, summary }: SummarisedLoad): Promise<void> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await done(indexedDB.open('hopwise'));
  const transaction = database.transaction(['loads', 'summaries'], 'readwrite');
  await Promise.all([
    done(transaction.objectStore('loads').put(load)),
    done(transaction.objectStore('summaries').put(summary)),
  ]);
  database.close();
}
