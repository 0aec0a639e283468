import { SerialQueue } from '@hopwise/contract';
import * as z from 'zod/mini';
import { readAgeLimitMs } from '../storage/age-limit.ts';
import { loadNetwork } from '../storage/network.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { readSettings } from '../storage/settings.ts';
import { StoredItem } from '../storage/stored-item.ts';
import { makeRules } from './rules.ts';
import { asksForStartRate, siteForHints, stepBelow } from './start-rate.ts';

/** The last that asked; others ask again with their next page. */
const MAX_SITES = 100;
/** Fewer loads may not have filled the link. */
const MIN_LOADS = 3;
/**
 * What a path has to hold in a round trip for the rate to be announced, bytes: 16 initial windows, up to which slow start takes four round trips.
 * Pages gain nothing on shorter paths: their many connections share the rate, and those that begin at it fill the queue that the others wait
 * in (bench/docs/product.md).
 */
const MIN_PATH_BYTES = 16 * 10 * 1460;

/** By site as of `siteForHints`: the origin that asked last, and when, Unix milliseconds. */
type Asked = Readonly<Record<string, { origin: string; atMs: number }>>;

const askedSchema = z.catch(z.record(z.string(), z.object({ origin: z.string(), atMs: z.number() })), {});
const storedAsked = new StoredItem<Asked>('own', 'startRateSites', (value) => askedSchema.parse(value ?? {}));

/** The sites that have asked and may still be remembered, those that asked last at the end. */
async function readAsked(nowMs: number): Promise<Asked> {
  const oldestMs = nowMs - (await readAgeLimitMs());
  return Object.fromEntries(
    Object.entries(await storedAsked.read()).filter(([, { atMs }]) => atMs > oldestMs),
  );
}

/**
 * Announces the network's rate to servers that ask for it, where the settings allow it. Which sites ask is remembered as long as page loads are, so
 * that they have the rate from the first request of later visits; the browser's rules end with the browser. An origin asks for its whole site:
 * of a site's many origins each could remember a bit of a visitor's number, beyond the end of their cookies.
 */
export class StartRateAnnouncer {
  readonly #queue = new SerialQueue();

  /** A server has answered a page's request with `Accept-CH`, which replaces what it asked for before (RFC 8942, section 3.1). */
  handleHintsAsked(url: string, acceptCh: string, nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      const site = siteForHints(url);
      if (site === null || !(await readSettings()).announcesStartRate) return;
      const { origin } = new URL(url);
      const { [site]: before, ...others } = await readAsked(nowMs);
      const asks = asksForStartRate(acceptCh);
      if (!asks && before?.origin !== origin) return;
      const kept = Object.entries(others).slice(asks ? 1 - MAX_SITES : 0);
      await storedAsked.write(Object.fromEntries(asks ? [...kept, [site, { origin, atMs: nowMs }]] : kept));
      await renewRules(nowMs);
    });
  }

  /**
   * Announces from the browser's first request on, on a network that is recognised: what was known of another one holds no longer.
   *
   * @param recognise asks the helper, which happens only where a site is remembered
   */
  handleBrowserStart(recognise: () => Promise<unknown>, nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      const { announcesStartRate } = await readSettings();
      if (!announcesStartRate || Object.keys(await readAsked(nowMs)).length === 0) return;
      await recognise();
      if ((await readNetworkKey()) !== null) await renewRules(nowMs);
    });
  }

  /** Renews the rules after the settings or what is known of the network have changed. */
  update(nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      // Without sites there are no rules.
      if (Object.keys(await storedAsked.read()).length === 0) return;
      if (!(await readSettings()).announcesStartRate) await storedAsked.write({});
      await renewRules(nowMs);
    });
  }

  /** Forgets that some sites asked. @param isForgotten of an address of the site, such as `https://site.test` */
  forgetSites(isForgotten: (site: string) => boolean, nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      const asked = Object.entries(await readAsked(nowMs));
      const kept = asked.filter(([site, { origin }]) => !isForgotten(site) && !isForgotten(origin));
      if (kept.length === asked.length) return;
      await storedAsked.write(Object.fromEntries(kept));
      await renewRules(nowMs);
    });
  }
}

async function renewRules(nowMs: number): Promise<void> {
  const { declarativeNetRequest } = chrome as Partial<typeof chrome>;
  // Not allowed by the user: the browser has no rules either.
  if (declarativeNetRequest === undefined) return;
  const [asked, before] = await Promise.all([readAsked(nowMs), declarativeNetRequest.getSessionRules()]);
  const sites = Object.keys(asked);
  const mbps = sites.length === 0 ? null : await knownRate();
  const addRules = mbps === null ? [] : makeRules(sites, (await readSettings()).excludedSites, mbps);
  const removeRuleIds = before.map(({ id }) => id);
  if (addRules.length + removeRuleIds.length === 0) return;
  await declarativeNetRequest.updateSessionRules({ removeRuleIds, addRules });
}

/** The rate to announce on this network, Mbit/s; null while too little is known of it, and where pages gain nothing by it. */
async function knownRate(): Promise<number | null> {
  const network = await loadNetwork();
  if (network === null || network.loads < MIN_LOADS) return null;
  // The medians: the figures are log-normal.
  const [bps, rttMs] = [Math.exp(network.downBps.mean), Math.exp(network.rttMs.mean)];
  return (bps * rttMs) / 8_000 < MIN_PATH_BYTES ? null : stepBelow(bps);
}
