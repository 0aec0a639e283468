import { EVERY_ORIGIN } from '@hopwise/contract';
import type { AutopilotRun } from '../../../extension/src/autopilot/runs/autopilot-run.ts';
import type { StoredRun } from './store.ts';

/** Tells which of the autopilot's runs are in force after a visit, or have ended since the visit before. */
export class FreshRuns {
  /** Runs that had ended by the visit before. */
  #ended = new Set<string>();

  /**
   * @param runs all that the autopilot lists
   * @param url of the page that was visited
   * @returns those of the page or of the whole network
   */
  select(runs: readonly AutopilotRun[], url: string): StoredRun[] {
    const fresh = runs.filter(({ id }) => !this.#ended.has(id));
    this.#ended = new Set(runs.filter(({ end }) => end !== null).map(({ id }) => id));
    return fresh.flatMap(({ id, pageUrl, trigger, pins, end }): StoredRun[] => {
      const scope = pins.some(({ origin }) => origin === EVERY_ORIGIN) ? 'network' : 'page';
      if (scope === 'page' && pageUrl !== url) return [];
      const kinds = [...new Set(pins.map(({ kind }) => kind))];
      return [{ id, scope, trigger, kinds, end: end?.cause ?? null }];
    });
  }
}
