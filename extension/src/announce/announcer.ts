import { SerialQueue } from '@hopwise/contract';
import * as z from 'zod/mini';
import { loadNetwork } from '../storage/network.ts';
import { readSettings } from '../storage/settings.ts';
import { StoredItem } from '../storage/stored-item.ts';
import { makeRules } from './rules.ts';
import { asksForStartRate, originForHints, stepBelow } from './start-rate.ts';

/** The last that asked; others ask again with their next page. */
const MAX_ORIGINS = 100;
/** Fewer loads may not have filled the link. */
const MIN_LOADS = 3;

const originsSchema = z.catch(z.array(z.string()), []);
const storedOrigins = new StoredItem('session', 'startRateOrigins', (value) =>
  originsSchema.parse(value ?? []),
);

/**
 * Announces the network's rate to servers that ask for it, where the settings allow it. Which origins ask is kept until the browser
 * closes; the browser's rules end then too.
 */
export class StartRateAnnouncer {
  readonly #queue = new SerialQueue();

  /** A server has answered a page's request with `Accept-CH`, which replaces what it asked for before (RFC 8942, section 3.1). */
  handleHintsAsked(url: string, acceptCh: string): Promise<void> {
    return this.#queue.run(async () => {
      const origin = originForHints(url);
      if (origin === null || !(await readSettings()).announcesStartRate) return;
      const before = await storedOrigins.read();
      const asks = asksForStartRate(acceptCh);
      if (!asks && !before.includes(origin)) return;
      const others = before.filter((each) => each !== origin);
      await storedOrigins.write(asks ? [...others, origin].slice(-MAX_ORIGINS) : others);
      await renewRules();
    });
  }

  /** Renews the rules after the settings or what is known of the network have changed. */
  update(): Promise<void> {
    return this.#queue.run(async () => {
      // Without origins there are no rules.
      if ((await storedOrigins.read()).length === 0) return;
      if (!(await readSettings()).announcesStartRate) await storedOrigins.write([]);
      await renewRules();
    });
  }

  /** Forgets which origins asked. */
  forgetOrigins(): Promise<void> {
    return this.#queue.run(async () => {
      await storedOrigins.write([]);
      await renewRules();
    });
  }
}

async function renewRules(): Promise<void> {
  const { declarativeNetRequest } = chrome as Partial<typeof chrome>;
  // Not allowed by the user: the browser has no rules either.
  if (declarativeNetRequest === undefined) return;
  const [origins, before] = await Promise.all([
    storedOrigins.read(),
    declarativeNetRequest.getSessionRules(),
  ]);
  const mbps = origins.length === 0 ? null : await knownRate();
  const addRules = mbps === null ? [] : makeRules(origins, mbps);
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
