import { type ClusterState, Explorer, readCluster } from '@hopwise/model';
import * as z from 'zod/mini';

/** In `storage.session`: what loads showed holds for one network, as pins do. */
const KEY = 'autopilot-explorer';

/** The pages that were loaded last are kept. */
const MAX_PAGES = 100;

const storedSchema = z.object({
  /** Pairs: browsers return the keys of stored objects in alphabetical order. */
  scales: z.array(z.tuple([z.string(), z.number().check(z.positive())])),
  clusters: z.record(z.string(), z.unknown()),
});

/** What loads on this network have shown. */
export interface Experience {
  explorer: Explorer;
  /** Load time by page by which pages are compared, milliseconds; the page that was loaded last is the last one. */
  scalesMs: Map<string, number>;
}

/** What cannot be read begins anew. */
export async function readExperience(): Promise<Experience> {
  const stored = storedSchema.safeParse((await chrome.storage.session.get(KEY))[KEY]);
  if (!stored.success) return { explorer: new Explorer(), scalesMs: new Map() };
  const clusters = Object.entries(stored.data.clusters).map(([key, state]): [string, ClusterState] => [
    key,
    readCluster(state),
  ]);
  return { explorer: new Explorer(new Map(clusters)), scalesMs: new Map(stored.data.scales) };
}

export async function saveExperience({ explorer, scalesMs }: Experience): Promise<void> {
  for (const page of [...scalesMs.keys()].slice(0, -MAX_PAGES)) {
    scalesMs.delete(page);
    explorer.forget(page);
  }
  const stored = {
    scales: [...scalesMs],
    clusters: Object.fromEntries(explorer.clusters),
  };
  await chrome.storage.session.set({ [KEY]: stored });
}

export async function forgetExperience(): Promise<void> {
  await chrome.storage.session.remove(KEY);
}
