/**
 * Erases what is kept of pages, wherever it is. Their loads come first: while one is there, the autopilot may act on it, and would keep
 * its page in its log again.
 */
import type { StartRateAnnouncer } from '../announce/announcer.ts';
import { siteForHints } from '../announce/start-rate.ts';
import type { Autopilot } from '../autopilot/autopilot.ts';
import type { Erased } from '../messages/memory-messages.ts';
import { removeSavedTime } from '../storage/saved-time.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { forgetOffers } from './ask-offers.ts';
import type { DetailedPages } from './detailed-pages.ts';
import type { Memory } from './memory.ts';
import { forgetChecks } from './network-check.ts';
import type { RestingHosts } from './resting-hosts.ts';

/** Where something is kept of pages. */
interface Places {
  memory: Pick<Memory, 'eraseAll' | 'forgetPages'>;
  autopilot: Pick<Autopilot, 'forgetPages'>;
  detailedPages: Pick<DetailedPages, 'forget' | 'forgetAll'>;
  announcer: Pick<StartRateAnnouncer, 'forgetSites'>;
  resting: Pick<RestingHosts, 'wakeAll'>;
}

/** Erases all pages. */
export async function eraseAll({
  memory,
  autopilot,
  detailedPages,
  announcer,
  resting,
}: Places): Promise<Erased> {
  const erased = await memory.eraseAll();
  await autopilot.forgetPages(() => true);
  await detailedPages.forgetAll();
  await removeSavedTime();
  await forgetChecks();
  await forgetOffers();
  await announcer.forgetSites(() => true);
  await resting.wakeAll();
  return erased;
}

/** Erases the pages with these URLs, whatever their query strings. */
export async function forgetPages(
  urls: readonly string[],
  { memory, autopilot, detailedPages, announcer, resting }: Places,
): Promise<void> {
  const pages = new Set(urls.map(maskQuery));
  const sites = new Set(urls.map(siteForHints));
  await memory.forgetPages(urls);
  await autopilot.forgetPages((url) => pages.has(maskQuery(url)));
  await detailedPages.forget((url) => pages.has(maskQuery(url)));
  await announcer.forgetSites((site) => sites.has(site));
  await resting.wakeAll();
}
