import { EVERY_ORIGIN, median } from '@hopwise/contract';
import { judgeSwitch, MAX_CHECKED_LOADS, type SwitchVerdict } from '@hopwise/model';
import {
  findComparableLoads,
  hasPins,
  pltOf,
  showsLoadTime,
  timeOf,
  visitsUntil,
} from '../../evidence/comparable-loads.ts';
import { isHeld, type Reference } from '../../evidence/pin-outcomes.ts';
import { ShownError } from '../../language/shown-error.ts';
import { t } from '../../language/translate.ts';
import type { KnownLoad } from '../../load/load-summary.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { maskQuery } from '../../storage/strip-urls.ts';
import { type AutopilotRun, isRunning } from './autopilot-run.ts';

/** With more failed requests among those to pinned origins, the pins are in trouble. */
const MAX_FAILED_SHARE = 0.5;
/** A single request may fail for any reason. */
const MIN_FAILED = 2;

/** Whether a load is of the page on which a run was started. */
export function isOfRunsPage({ recording, hidesQueries }: KnownLoad, { pageUrl }: AutopilotRun): boolean {
  return hidesQueries ? maskQuery(recording.url) === maskQuery(pageUrl) : recording.url === pageUrl;
}

/** What in a load, of any page, shows that the pins of a run do harm; null when nothing does. */
export function findTrouble({ pins }: AutopilotRun, load: StoredLoad): ShownError | null {
  for (const { origin, kind } of pins) {
    if (!isHeld(load, origin, kind)) continue;
    const isEvery = origin === EVERY_ORIGIN;
    const own = load.recording.requests.filter(({ url }) =>
      isEvery ? url.startsWith('https:') : new URL(url).origin === origin,
    );
    const failed = own.filter(({ status, fromCache }) => status === 0 && !fromCache);
    if (failed.length < MIN_FAILED || failed.length <= MAX_FAILED_SHARE * own.length) continue;
    // A single server may be down.
    if (isEvery && new Set(failed.map(({ url }) => new URL(url).origin)).size < MIN_FAILED) continue;
    const counts = { failed: failed.length, all: own.length };
    return new ShownError(() =>
      isEvery ? t('runFailedRequestsAll', counts) : t('runFailedRequests', { ...counts, origin }),
    );
  }
  return null;
}

/**
 * Adds a load to a run's measured ones if it is a full load of the same page with all of its pins.
 *
 * @returns what the loads so far show: the pins slow the page down, gained nothing, or gained, or a trial had its load; null for nothing new
 */
export function measureLoad(
  run: AutopilotRun,
  load: StoredLoad,
  all: readonly KnownLoad[],
): SwitchVerdict | 'tried' | null {
  if (load.id <= run.lastLoadId || !isOfRunsPage(load, run)) return null;
  run.lastLoadId = load.id;
  const { pins, beforeMs, afterMs, predicted } = run;
  if (afterMs.length >= MAX_CHECKED_LOADS || !pins.every(({ origin, kind }) => isHeld(load, origin, kind)))
    return null;
  if (!showsLoadTime(load, all)) return null;
  afterMs.push(pltOf(load));
  if (run.trigger === 'trial') return 'tried';
  const reference = beforeMs.length > 0 || predicted === null ? beforeMs : [predicted.beforeMs];
  if (run.state !== 'checking' || reference.length === 0) return null;
  return judgeSwitch(reference, afterMs);
}

/**
 * Whether loads of any page surely take longer since HTTP/3 is kept off on their network, which sends every https connection through the
 * helper. Each page counts by what its later visits took there before.
 *
 * @param load with the pin of every origin
 * @param all stored loads, oldest first
 */
export function isNetworkSlowed(
  { madeAtMs, networkKey = null }: AutopilotRun,
  load: KnownLoad,
  all: readonly KnownLoad[],
): boolean {
  const isSince = (each: KnownLoad) => timeOf(each) >= madeAtMs && isHeld(each, EVERY_ORIGIN, 'avoid-h3');
  const held = [...all.filter(({ id }) => id < load.id), load].filter(
    (each) => (each.networkKey ?? null) === networkKey && isSince(each) && showsLoadTime(each, all),
  );
  const pages = new Map<string, number[]>();
  const after: number[] = [];
  for (const each of held) {
    const free = findComparableLoads(each, all).filter((one) => !hasPins(one));
    const beforeMs = visitsUntil(each, all).selectLater(free).map(pltOf);
    if (beforeMs.length === 0) continue;
    const usualMs = median(beforeMs);
    pages.set(
      each.recording.url,
      beforeMs.map((ms) => ms / usualMs),
    );
    after.push(pltOf(each) / usualMs);
    if (after.length === MAX_CHECKED_LOADS) break;
  }
  return after.length > 0 && judgeSwitch([...pages.values()].flat(), after) === 'slower';
}

/** What a load's page took before the pins of the load were made, as a run has kept it. Null for a load without such pins. */
export function findReference(load: KnownLoad, runs: readonly AutopilotRun[]): Reference | null {
  const own = runs.filter(
    (run) =>
      isOfRunsPage(load, run) &&
      (run.networkKey ?? null) === (load.networkKey ?? null) &&
      run.pins.every(({ origin, kind }) => isHeld(load, origin, kind)),
  );
  // Later ones were compared with loads that had the pins of the first.
  const run = own.find(isRunning) ?? own.at(-1);
  return run ? { beforeMs: run.beforeMs, estimatedMs: run.predicted?.beforeMs ?? null } : null;
}
