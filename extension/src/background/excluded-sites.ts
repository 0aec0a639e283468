import { isOnSite } from '../storage/is-on-site.ts';
import { readSettings } from '../storage/settings.ts';

/** The excluded sites as the worker last read them. */
export class ExcludedSites {
  #sites: readonly string[] = [];
  /** Until then no site is known. Rejects when the settings cannot be read: then nothing is recorded. */
  readonly ready = readSettings().then(({ excludedSites }) => this.replaceSites(excludedSites));

  replaceSites(sites: readonly string[]): void {
    this.#sites = sites;
  }

  has(url: string): boolean {
    return isOnSite(url, this.#sites);
  }
}
