/** Loads a recorded page once from the lab and compares what it asks for with what was recorded. */
import type { Protocol } from '@hopwise/pageload-emulator';
import { chromium } from 'playwright-core';
import type { Lab, LabLog } from '../lab/lab.ts';
import type { Network } from '../lab/networks.ts';
import type { Site } from '../pages/site.ts';
import { firstLine } from '../start/errors.ts';
import { CHROMIUM_ARGS, protocolArgs } from '../truth/loads.ts';
import { determinismScript } from './determinism.ts';
import { type Miss, missesOf } from './misses.ts';

/** Nearly nothing is in the way: the check is of requests, not of times. */
export const CHECK_NETWORK: Network = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 50,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 100 },
  udp: 'open',
};

export interface ReplayCheck {
  protocol: Protocol;
  /** Resources of the site, and those of them that were asked for again. */
  resources: number;
  again: number;
  /** `method URL` of those that were not. */
  notAgain: string[];
  /** Requests that a similar URL's resource answered. */
  similar: number;
  misses: Miss[];
  /** navigationStart to loadEventEnd; null when the load event did not come. */
  pltMs: number | null;
  /** Why the page did not load; null when it did. */
  failure: string | null;
  log: LabLog;
}

export interface ReplayCheckOptions {
  lab: Lab;
  site: Site;
  /** Chromium on the client's side of the lab. */
  executablePath: string;
  protocol: Protocol;
  timeoutMs: number;
  waitMs: number;
  signal?: AbortSignal;
}

/** Loads the page under one protocol. What goes wrong with the page is the value. */
export async function checkReplay(options: ReplayCheckOptions): Promise<ReplayCheck> {
  const { lab, site, protocol, signal } = options;
  signal?.throwIfAborted();
  await lab.drain();
  await lab.log();
  const hosts = lab.origins.map(({ origin }) => new URL(origin).host);
  const browser = await chromium.launch({
    executablePath: options.executablePath,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      ...protocolArgs(protocol, hosts),
      `--ignore-certificate-errors-spki-list=${lab.caSpki}`,
      ...CHROMIUM_ARGS,
    ],
  });
  const close = () => void browser.close();
  signal?.addEventListener('abort', close, { once: true });
  let failure: string | null = null;
  let pltMs: number | null = null;
  try {
    const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: false });
    const page = await context.newPage();
    if (site.determinism) {
      await page.addInitScript(determinismScript(site.determinism.seed, site.determinism.epochMs));
    }
    await page.goto(site.entry, { waitUntil: 'load', timeout: options.timeoutMs });
    await page.waitForTimeout(options.waitMs);
    pltMs = await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      return navigation && navigation.loadEventEnd > 0 ? navigation.loadEventEnd : null;
    });
  } catch (error) {
    signal?.throwIfAborted();
    failure = firstLine(error);
  } finally {
    signal?.removeEventListener('abort', close);
    await browser.close();
  }
  const log = await lab.log();
  return { protocol, pltMs, failure, log, misses: missesOf(log), ...askedAgain(site, log) };
}

/** Which of the site's resources a log has. Requests that differ in their bodies only count as one. */
export function askedAgain(
  site: Pick<Site, 'resources'>,
  log: Pick<LabLog, 'entries'>,
): Pick<ReplayCheck, 'resources' | 'again' | 'notAgain' | 'similar'> {
  const asked = new Set<string>();
  const askedByAnyMethod = new Set<string>();
  let similar = 0;
  for (const { miss, method, origin, path, answered } of log.entries) {
    if (miss) continue;
    if (answered !== undefined) similar++;
    asked.add(`${method} ${origin}${answered ?? path}`);
    askedByAnyMethod.add(`${origin}${answered ?? path}`);
  }
  const keys = new Map(
    site.resources.map(({ method, origin, path }) => [
      `${method ?? 'any'} ${origin}${path}`,
      method === undefined ? askedByAnyMethod.has(origin + path) : asked.has(`${method} ${origin}${path}`),
    ]),
  );
  const notAgain = [...keys].filter(([, again]) => !again).map(([key]) => key);
  return { resources: keys.size, again: keys.size - notAgain.length, notAgain, similar };
}
