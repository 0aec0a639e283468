/** Checks in the lab, with Chromium, whether a replayed page repeats the recorded requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { firstLine } from '@hopwise/contract';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { chromiumPath } from '../browser/chromium.ts';
import { siteInitScript } from '../browser/determinism.ts';
import { Lab, type LabLog } from '../client/lab.ts';
import { EASY_NETWORK } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { type FailedLoad, type Load, MeasuringBrowser } from '../loads/measuring-browser.ts';
import type { Site } from '../sites/site.ts';
import { type Miss, missesOf } from './misses.ts';

/** Fraction of the expected requests that a faithful replay makes again. */
export const WANTED_SHARE = 0.98;

interface ExpectedRequests {
  /** Expected URLs; of any method where none is given. */
  requests: { method?: string; url: string }[];
  /** Requests count until the load event or until the end of the visit. */
  until: 'load' | 'end';
}

export interface CheckOptions {
  /** Folder of the site, and its parsed `site.json`. */
  dir: string;
  site: Site;
  /** Default: every resource of the site by the end of the visit. */
  expected?: ExpectedRequests;
  protocols: readonly Protocol[];
  /** Time limit for the load event. */
  timeoutMs: number;
  /** How long the page stays open after its load event, for late requests; 5 s at most. */
  lingerMs?: number;
  /** Chromium. */
  executablePath?: string;
  /** Before each load. */
  onLoad?(protocol: Protocol): void;
  signal?: AbortSignal;
}

/** One load of a replay. */
export interface ReplayCheck {
  protocol: Protocol;
  /** Why there was no load event; null when there was one. */
  failure: string | null;
  /** navigationStart to loadEventEnd; null without a load event. */
  pltMs: number | null;
  /** Expected requests, and those of them that were made. Requests that differ only in their bodies count as one. */
  expected: number;
  again: number;
  /** `again` / `expected`. */
  share: number;
  /** URLs (with methods where expected) of requests that were not made again. */
  missing: string[];
  /** URLs requested before the load event that are neither expected nor misses. */
  extra: string[];
  /** URLs answered with a similar URL's resource. */
  similar: string[];
  /** Requests that the site has no resource for. */
  misses: Miss[];
  /** Requests before the load event without an answer or with a status of 400 or above. */
  failed: Load['failed'];
  /** Whether every request that reached a server was on the protocol. */
  proved: boolean;
}

/** Whether the load event fired, enough requests were made again, and none missed. */
export const isFaithful = ({ failure, share, misses }: ReplayCheck): boolean =>
  failure === null && share >= WANTED_SHARE && misses.length === 0;

/** The protocols that every origin of a site offers. */
export const offeredByAll = ({ origins }: Site, protocols: readonly Protocol[] = PROTOCOLS): Protocol[] =>
  protocols.filter((protocol) => origins.every((origin) => origin.protocols.includes(protocol)));

/**
 * Loads a site once under each protocol, in its own lab. Failures of a load are returned.
 *
 * @throws UserError for a site that the lab cannot use, or when the lab cannot start; when Chromium does not start; with the
 * signal's reason.
 */
export async function checkReplay(options: CheckOptions): Promise<ReplayCheck[]> {
  const { dir, site, protocols, signal } = options;
  const expected = options.expected ?? everyResource(site);
  const lab = await Lab.up({ site: dir, network: EASY_NETWORK, ...(signal && { signal }) }).catch((error) => {
    signal?.throwIfAborted();
    throw error instanceof UserError ? error : new UserError(firstLine(error));
  });
  try {
    const executablePath = await lab.wrapper(options.executablePath ?? chromiumPath());
    const checks: ReplayCheck[] = [];
    for (const protocol of protocols) {
      options.onLoad?.(protocol);
      await lab.drain();
      // Discards what it holds of the previous load.
      await lab.log();
      const load = await loadOnce(lab, executablePath, protocol, options);
      checks.push(compareRequests(protocol, expected, load, await lab.log()));
    }
    return checks;
  } finally {
    await lab.down();
  }
}

async function loadOnce(
  lab: Lab,
  executablePath: string,
  protocol: Protocol,
  { site, timeoutMs, lingerMs, signal }: CheckOptions,
): Promise<Load | FailedLoad> {
  signal?.throwIfAborted();
  const browser = await MeasuringBrowser.launch({
    executablePath,
    protocol,
    caSpki: lab.caSpki,
    hosts: lab.hosts,
  });
  // Closing the browser ends a load at once.
  const onAbort = () => void browser.close().catch(() => undefined);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const load = await browser.load(site.entry, {
      timeoutMs,
      firstByteTimeoutMs: timeoutMs,
      record: false,
      ...siteInitScript(site),
      ...(lingerMs !== undefined && { onLoadEvent: () => sleep(lingerMs, undefined, { ref: false }) }),
    });
    signal?.throwIfAborted();
    return load;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await browser.close();
  }
}

function everyResource({ resources }: Site): ExpectedRequests {
  return {
    requests: resources.map(({ method, origin, path }) => ({
      ...(method && { method }),
      url: origin + path,
    })),
    until: 'end',
  };
}

/** Compares a load and the servers' log with the expected requests. */
export function compareRequests(
  protocol: Protocol,
  expected: ExpectedRequests,
  load: Load | FailedLoad,
  log: Pick<LabLog, 'entries'>,
): ReplayCheck {
  /** URL of the answering resource by requested URL. */
  const answeredBy = new Map<string, string>();
  const made = new Set<string>();
  const similar = new Set<string>();
  for (const { miss, method, origin, path, answered } of log.entries) {
    if (miss) continue;
    const url = origin + (answered ?? path);
    answeredBy.set(origin + path, url);
    made.add(url).add(`${method} ${url}`);
    if (answered !== undefined) similar.add(origin + path);
  }
  const early = load.ok ? load.requests.map(({ url }) => answeredBy.get(url) ?? url) : [];
  const earlyUrls = new Set(early);
  const onlyEarly = expected.until === 'load' && load.ok;
  const wanted = new Map(
    expected.requests.map(({ method, url }) => {
      const key = method === undefined ? url : `${method} ${url}`;
      return [key, onlyEarly ? earlyUrls.has(url) : made.has(key)];
    }),
  );
  const missing = [...wanted].filter(([, isMade]) => !isMade).map(([key]) => key);
  const misses = missesOf(log);
  const known = new Set([...expected.requests, ...misses].map(({ url }) => url));
  const again = wanted.size - missing.length;
  return {
    protocol,
    failure: load.ok ? null : load.reason,
    pltMs: load.ok ? load.pltMs : null,
    expected: wanted.size,
    again,
    share: wanted.size === 0 ? 1 : again / wanted.size,
    missing,
    extra: early.filter((url) => !known.has(url)),
    similar: [...similar],
    misses,
    failed: load.ok ? load.failed : [],
    proved: log.entries.length > 0 && log.entries.every((entry) => entry.protocol === protocol),
  };
}
