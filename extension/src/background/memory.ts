/** What the extension remembers of pages: how much it is, what the user's settings remove, and how all of it is erased. */
import { SerialQueue } from '@hopwise/contract';
import { siteKey } from '@hopwise/pageload-emulator';
import type { LoadSummary } from '../load/load-summary.ts';
import type { Erased, StoredData } from '../messages/memory-messages.ts';
import {
  getAllLoads,
  getLoad,
  getSummaries,
  isOfPage,
  removeExpiredLoads,
  removeLoads,
  updateLoad,
} from '../storage/loads.ts';
import { removeUnusedQueries } from '../storage/queries.ts';
import { readSettings, type Settings, saveSettings } from '../storage/settings.ts';
import { stripLoad } from '../storage/strip-load.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { eraseNetworks, forgetSites, removeOldNetworks } from './network-memory.ts';
import { finishStoring } from './store-load.ts';
import type { TabLoad, TabLoads } from './tab-loads.ts';
import type { Verifications } from './verifications.ts';

export class Memory {
  readonly #tabs: TabLoads;
  readonly #verifications: Verifications;
  /** Changes of the settings. */
  readonly #changes = new SerialQueue();

  constructor(tabs: TabLoads, verifications: Verifications) {
    this.#tabs = tabs;
    this.#verifications = verifications;
  }

  async measure(): Promise<StoredData> {
    const loads = await getAllLoads();
    const [oldest] = loads;
    return {
      loads: loads.length,
      bytes: loads.reduce((sum, load) => sum + new TextEncoder().encode(JSON.stringify(load)).length, 0),
      oldestMs: oldest?.storedAtMs ?? null,
    };
  }

  /** Removes what is older than the user allows. */
  async removeExpired(): Promise<void> {
    await removeExpiredLoads();
    await removeOldNetworks();
    await removeUnusedQueries();
  }

  /** Erases all loads, verifications and the learned networks. The settings stay. */
  async eraseAll(): Promise<Erased> {
    this.#verifications.forgetLast();
    const erased = await this.#removeLoads(
      () => true,
      () => true,
    );
    return { ...countErased(erased), network: await eraseNetworks() };
  }

  /** Removes the loads of pages, by their URLs before or after redirects, and what their sites showed of networks. */
  async forgetPages(urls: readonly string[]): Promise<void> {
    const pages = new Set(urls.map(maskQuery));
    await this.#removeLoads(
      (load) => urls.some((url) => isOfPage(load, url)),
      (load) => listPageUrls(load).some((url) => pages.has(maskQuery(url))),
    );
    const sites = new Set(urls.map(siteKey));
    await forgetSites((site) => sites.has(site));
  }

  /**
   * Changes settings, and applies them to what is already stored.
   *
   * @returns the settings and what they erased
   */
  changeSettings(change: Partial<Settings>): Promise<{ settings: Settings; erased: Erased }> {
    return this.#changes.run(() => this.#applySettings(change));
  }

  async #applySettings(change: Partial<Settings>): Promise<{ settings: Settings; erased: Erased }> {
    const before = await getSummaries();
    const settings = { ...(await readSettings()), ...change };
    await saveSettings(settings);
    this.#tabs.excludedSites.replaceSites(settings.excludedSites);
    await this.#removeLoads(
      ({ requestedUrl, recording }) =>
        this.#tabs.excludedSites.has(requestedUrl) || this.#tabs.excludedSites.has(recording.url),
      (load) => listPageUrls(load).some((url) => this.#tabs.excludedSites.has(url)),
    );
    await forgetSites((site) => this.#tabs.excludedSites.has(`https://${site}/`));
    await this.removeExpired();
    if (!settings.keepsQueries) await stripStoredLoads();
    const left = new Set((await getSummaries()).map(({ id }) => id));
    const erased = before.filter(({ id }) => !left.has(id));
    return { settings, erased: { ...countErased(erased), network: false } };
  }

  /** Removes loads from the store and from the tabs. */
  async #removeLoads(
    isRemoved: (load: LoadSummary) => boolean,
    isRemovedFromTab: (load: TabLoad) => boolean,
  ): Promise<LoadSummary[]> {
    await this.#tabs.removeLoads(isRemovedFromTab);
    // A load that is being stored now would be stored after its removal.
    await finishStoring();
    const removed = await removeLoads(isRemoved);
    await removeUnusedQueries();
    return removed;
  }
}

/** Removes the query strings of loads that were stored with them. */
async function stripStoredLoads(): Promise<void> {
  for (const { id } of (await getSummaries()).filter(({ hidesQueries }) => !hidesQueries)) {
    const load = await getLoad(id);
    if (load === undefined) continue;
    const { id: _id, storedAtMs: _storedAtMs, ...fields } = stripLoad(load);
    await updateLoad(id, fields);
  }
}

function countErased(loads: readonly LoadSummary[]): Pick<Erased, 'loads' | 'verifications'> {
  return { loads: loads.length, verifications: loads.filter(({ facts }) => facts.isVerified).length };
}

/** URLs of the page of a tab, before and after redirects. */
function listPageUrls({ url, requests }: TabLoad): string[] {
  return [url, ...requests.filter(({ type }) => type === 'document').map((request) => request.url)];
}
