/** Measures how much of a page's load time other tabs were loading too, which takes a part of the link and of the machine. */
import { LOAD_TIMEOUT_MS } from '../recorder/limits.ts';
import type { PageSettled } from '../recorder/page-timings.ts';
import { findSystemOrigin } from '../recorder/system-origin.ts';
import type { ReportingPage } from './reported-load.ts';
import { readShownPage } from './shown-page.ts';

/** Milliseconds since 1970. */
interface Interval {
  beganMs: number;
  endedMs: number;
}

type Settled = Pick<PageSettled, 'timings' | 'loaded'>;

/** Pages report a second after they have loaded. A page that had loaded when another one reported has itself reported after this time. */
const REPORTED_WITHIN_MS = 1_200;
const MAX_REPORTED = 100;

/** When pages loaded, in the order of their reports. The browser does not stop the worker between reports of pages that load at once. */
const reported: (Interval & { tabId: number })[] = [];

/** Remembers when a page loaded, to compare it with the loads of other tabs. */
export function noteLoadTime(page: ReportingPage, settled: Settled): void {
  reported.push({ tabId: page.tabId, ...intervalOf(page, settled) });
  if (reported.length > MAX_REPORTED) reported.shift();
}

/**
 * Measures the share of a page's load time in which other tabs loaded too, 0 to 1. Where other tabs show pages of the web, it waits for the reports
 * of those that may just have loaded.
 */
export async function measureOverlap(page: ReportingPage, settled: Settled): Promise<number> {
  const own = intervalOf(page, settled);
  const others = (await chrome.tabs.query({ discarded: false })).filter(({ id }) => id !== page.tabId);
  const mayReport = others.some(({ url = '' }) => url.startsWith('http'));
  const loading = others.filter(({ status }) => status === 'loading');
  const [seen] = await Promise.all([
    Promise.all(loading.map(({ id }) => findLoading(id!, own))),
    mayReport && new Promise((resolve) => setTimeout(resolve, REPORTED_WITHIN_MS)),
  ]);
  return shareWithin(own, [...seen.flat(), ...reported.filter(({ tabId }) => tabId !== page.tabId)]);
}

/** When a page loaded: until it was left, or for as long as a load event is waited for, where it has not fired. */
function intervalOf({ leftMs }: Pick<ReportingPage, 'leftMs'>, { timings, loaded }: Settled): Interval {
  const beganMs = findSystemOrigin(timings);
  const loadMs = loaded ? timings.navigation?.loadEventEnd : leftMs;
  return { beganMs, endedMs: beganMs + (loadMs ?? LOAD_TIMEOUT_MS) };
}

/** When a tab that the browser calls loading has been loading; empty where its page has loaded after all, or the extension has no access to it. */
async function findLoading(tabId: number, own: Interval): Promise<Interval[]> {
  const page = await readShownPage(tabId);
  // Its page has no time to answer while it loads.
  if (page === 'busy') return [own];
  if (page === null || !page.willReport) return [];
  return [{ beganMs: page.timeOrigin, endedMs: page.timeOrigin + LOAD_TIMEOUT_MS }];
}

/** The share of an interval that lies within any of others. */
function shareWithin({ beganMs, endedMs }: Interval, others: readonly Interval[]): number {
  let coveredMs = 0;
  let untilMs = beganMs;
  for (const other of others.toSorted((a, b) => a.beganMs - b.beganMs)) {
    const toMs = Math.min(other.endedMs, endedMs);
    coveredMs += Math.max(0, toMs - Math.max(other.beganMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return coveredMs / Math.max(1, endedMs - beganMs);
}
