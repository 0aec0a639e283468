/** Whether a replayed page makes the recorded requests again, in the lab and in Chromium. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { chromiumPath } from '../browser/chromium.ts';
import { siteInitScript } from '../browser/determinism.ts';
import { Lab, LabInputError, type LabLog } from '../client/lab.ts';
import { EASY_NETWORK } from '../client/networks.ts';
import { firstLine, UserError } from '../command/errors.ts';
import { type FailedLoad, type Load, MeasuringBrowser } from '../loads/measuring-browser.ts';
import type { Site } from '../sites/site.ts';
import { type Miss, missesOf } from './misses.ts';

/** Part of the expected requests that a replay has to make again. */
export const WANTED_SHARE = 0.98;

export interface ExpectedRequests {
  /** Of any method where none is given. */
  requests: { method?: string; url: string }[];
  /** Until when a request counts: the load event, or the end of the visit. */
  until: 'load' | 'end';
}

export interface CheckOptions {
  /** Folder of the site, and what its `site.json` says. */
  dir: string;
  site: Site;
  /** Every resource of the site by the end of the visit, unless given. */
  expected?: ExpectedRequests;
  protocols: readonly Protocol[];
  /** Time to the load event. */
  timeoutMs: number;
  /** How long the page stays open after its load event, 5 s at most: late requests come as they did before. */
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
  /** Why the load event did not come; null when it did. */
  failure: string | null;
  /** navigationStart to loadEventEnd; null when the load event did not come. */
  pltMs: number | null;
  /** Expected requests, and those of them that were made. Requests that differ in their bodies only count as one. */
  expected: number;
  again: number;
  /** `again` as a part of `expected`. */
  share: number;
  /** URLs, with their methods where those were expected, of what was not made again. */
  missing: string[];
  /** URLs that were asked for before the load event, are not expected, and are no misses. */
  extra: string[];
  /** URLs that a similar URL's resource answered. */
  similar: string[];
  /** Requests for what the site does not have. */
  misses: Miss[];
  /** Requests before the load event that got no answer, or one of status 400 and above. */
  failed: Load['failed'];
  /** Whether every request that reached a server was on the protocol. */
  proved: boolean;
}

/** Whether the load event came, enough was asked for again, and nothing that the site does not have. */
export const isFaithful = ({ failure, share, misses }: ReplayCheck): boolean =>
  failure === null && share >= WANTED_SHARE && misses.length === 0;

/** Those of `protocols` that every origin of a site offers. */
export const offeredByAll = ({ origins }: Site, protocols: readonly Protocol[] = PROTOCOLS): Protocol[] =>
  protocols.filter((protocol) => origins.every((origin) => origin.protocols.includes(protocol)));

/**
 * Loads a site once under each protocol, from a lab of its own. What goes wrong with a load is in the value.
 *
 * @throws UserError for a site that the lab cannot use and for what keeps the lab from starting; what keeps Chromium from it;
 * the signal's reason.
 */
export async function checkReplay(options: CheckOptions): Promise<ReplayCheck[]> {
  const { dir, site, protocols, signal } = options;
  const expected = options.expected ?? everyResource(site);
  const lab = await Lab.up({ site: dir, network: EASY_NETWORK, ...(signal && { signal }) }).catch((error) => {
    signal?.throwIfAborted();
    throw new UserError(firstLine(error), error instanceof LabInputError ? 2 : 1);
  });
  try {
    const executablePath = await lab.wrapper(options.executablePath ?? chromiumPath());
    const checks: ReplayCheck[] = [];
    for (const protocol of protocols) {
      options.onLoad?.(protocol);
      await lab.drain();
      // What it has of the load before goes.
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
  // Without its browser a load ends at once.
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

/** What a load and the servers' log of it say of the expected requests. */
export function compareRequests(
  protocol: Protocol,
  expected: ExpectedRequests,
  load: Load | FailedLoad,
  log: Pick<LabLog, 'entries'>,
): ReplayCheck {
  /** URL of the resource that answered, by the URL that was asked for. */
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
