import { SerialQueue } from '@hopwise/contract';
import * as z from 'zod/mini';
import { readAgeLimitMs } from '../storage/age-limit.ts';
import { loadNetwork } from '../storage/network.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { readSettings } from '../storage/settings.ts';
import { StoredItem } from '../storage/stored-item.ts';
import { makeRules } from './rules.ts';
import { asksForStartRate, originForHints, stepBelow } from './start-rate.ts';

/** The last that asked; others ask again with their next page. */
const MAX_ORIGINS = 100;
/** Fewer loads may not have filled the link. */
const MIN_LOADS = 3;

/** When each origin last asked, Unix milliseconds. */
type Origins = Readonly<Record<string, number>>;

const originsSchema = z.catch(z.record(z.string(), z.number()), {});
const storedOrigins = new StoredItem<Origins>('own', 'startRateOrigins', (value) =>
  originsSchema.parse(value ?? {}),
);

/** The origins that have asked and may still be remembered, those that asked last at the end. */
async function readOrigins(nowMs: number): Promise<Origins> {
  const oldestMs = nowMs - (await readAgeLimitMs());
  return Object.fromEntries(
    Object.entries(await storedOrigins.read()).filter(([, askedMs]) => askedMs > oldestMs),
  );
}

/**
 * Announces the network's rate to servers that ask for it, where the settings allow it. Which origins ask is remembered as long as page loads are, so
 * that they have the rate from the first request of later visits; the browser's rules end with the browser.
 */
export class StartRateAnnouncer {
  readonly #queue = new SerialQueue();

  /** A server has answered a page's request with `Accept-CH`, which replaces what it asked for before (RFC 8942, section 3.1). */
  handleHintsAsked(url: string, acceptCh: string, nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      const origin = originForHints(url);
      if (origin === null || !(await readSettings()).announcesStartRate) return;
      const { [origin]: before, ...others } = await readOrigins(nowMs);
      const asks = asksForStartRate(acceptCh);
      if (!asks && before === undefined) return;
      const kept = Object.entries(others).slice(asks ? 1 - MAX_ORIGINS : 0);
      await storedOrigins.write(Object.fromEntries(asks ? [...kept, [origin, nowMs]] : kept));
      await renewRules(nowMs);
    });
  }

  /**
   * Announces from the browser's first request on, on a network that is recognised: what was known of another one holds no longer.
   *
   * @param recognise asks the helper, which happens only where an origin is remembered
   */
  handleBrowserStart(recognise: () => Promise<unknown>, nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      const { announcesStartRate } = await readSettings();
      if (!announcesStartRate || Object.keys(await readOrigins(nowMs)).length === 0) return;
      await recognise();
      if ((await readNetworkKey()) !== null) await renewRules(nowMs);
    });
  }

  /** Renews the rules after the settings or what is known of the network have changed. */
  update(nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      // Without origins there are no rules.
      if (Object.keys(await storedOrigins.read()).length === 0) return;
      if (!(await readSettings()).announcesStartRate) await storedOrigins.write({});
      await renewRules(nowMs);
    });
  }

  /** Forgets that some origins asked. */
  forgetOrigins(isForgotten: (origin: string) => boolean, nowMs = Date.now()): Promise<void> {
    return this.#queue.run(async () => {
      const origins = Object.entries(await readOrigins(nowMs));
      if (!origins.some(([origin]) => isForgotten(origin))) return;
      await storedOrigins.write(Object.fromEntries(origins.filter(([origin]) => !isForgotten(origin))));
      await renewRules(nowMs);
    });
  }
}

async function renewRules(nowMs: number): Promise<void> {
  const { declarativeNetRequest } = chrome as Partial<typeof chrome>;
  // Not allowed by the user: the browser has no rules either.
  if (declarativeNetRequest === undefined) return;
  const [origins, before] = await Promise.all([readOrigins(nowMs), declarativeNetRequest.getSessionRules()]);
  const names = Object.keys(origins);
  const mbps = names.length === 0 ? null : await knownRate();
  const addRules = mbps === null ? [] : makeRules(names, mbps);
  const removeRuleIds = before.map(({ id }) => id);
  if (addRules.length + removeRuleIds.length === 0) return;
  await declarativeNetRequest.updateSessionRules({ removeRuleIds, addRules });
}

/** The rate that may be announced on this network, Mbit/s; null while too little is known of it. */
async function knownRate(): Promise<number | null> {
  const network = await loadNetwork();
  if (network === null || network.loads < MIN_LOADS) return null;
  // The median: the figure is log-normal.
  return stepBelow(Math.exp(network.downBps.mean));
}
