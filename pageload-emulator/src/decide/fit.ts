import { isLocalAddress, type LoadTime, median, type Recording } from '@hopwise/contract';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import { isFailed, loadRequests } from '../recording/load-requests.ts';
import { documentOf } from '../recording/requests/draft.ts';
import { isCertain } from '../scenarios/draw-networks.ts';
import { loadTime, quantilesOf } from '../scenarios/load-time.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { LoadSpread } from '../scenarios/spread.ts';
import { siteKey } from '../util/site.ts';
import { hostOf } from '../util/url.ts';
import { type Candidate, usesH3 } from './candidates.ts';

/** Why a recorded load, or what was read from it, is not understood. */
export type Misfit =
  /** The requests of the recording are a set of transfers. */
  | { kind: 'no-navigation' }
  /** Requests failed because of a protocol, which none does in an emulation. */
  | { kind: 'protocol-failed'; protocol: 'h2' | 'h3'; requests: number }
  /** The browser changed networks, or went offline. */
  | { kind: 'network-changed' }
  | { kind: 'no-load-event' }
  /** Nothing was transferred in the load. */
  | { kind: 'all-cached' }
  /** No request of the load was answered. */
  | { kind: 'no-answer' }
  /** Redirects ended where no server answered, or nowhere. */
  | { kind: 'no-page' }
  /** Loads that long are sessions: what a page does after it was loaded. */
  | { kind: 'session'; recordedMs: number }
  | { kind: 'load-time'; recordedMs: number; explainedMs: number }
  | { kind: 'round-trip'; rttMs: number }
  /** No request shows when its response began, nor is the round trip known from elsewhere. */
  | { kind: 'no-round-trip' };

const VERIFIABLE: ReadonlySet<Misfit['kind']> = new Set([
  'protocol-failed',
  'network-changed',
  'load-time',
  'round-trip',
  'no-round-trip',
]);

/** Whether transfers of the page could show what is not understood: they neither load a page nor end a session. */
export const canBeVerified = ({ misfits }: FitFigures): boolean =>
  misfits.some(({ kind }) => VERIFIABLE.has(kind));

/** How well the emulation explains the recorded load; `explain/fit-words.ts` puts it into words. */
export interface FitFigures {
  recordedMs: number | null;
  /** The same load emulated: median and the range in which four of five recorded loads lie; null where it was on another network. */
  explained: LoadTime | null;
  /** Whether a policer is given that was not there when the page was recorded: the recorded load was faster than it allows. */
  isPolicerAdded: boolean;
  misfits: Misfit[];
}

/** What is compared. */
interface FitContext {
  recording: Recording;
  network: NetworkPosterior;
  scenarios: readonly Scenario[];
  /** The candidate like which the page was recorded; undefined where none is like it. */
  recorded: Candidate | undefined;
  /** Whether the recorded load was on another network than the one asked about. */
  isOtherNetwork: boolean;
}

/**
 * How well recorded loads are reproduced: standard deviation of the logarithm of their times around one emulated on the network and with
 * the servers that were read from them. With it and `DRAWN_SHARE` the 80% range holds 86% of the loads of 60 training cells, as ranges
 * may hold 75 to 90% (`npm run bench -- reading --ranges --split train --seed 1 --cells 60`). Other pages scatter by more (`SPREADS`): beyond that a load is not understood.
 */
const REPRODUCTION: readonly LoadSpread[] = [{ weight: 1, deviation: 0.06 }];
/**
 * Share of the differences between a load's times in the drawn networks, in the logarithm, that the recorded time may show: the figures of a
 * network were read from that load together, but are drawn one by one. Chosen likewise.
 */
const DRAWN_SHARE = 0.6;
/** The recorded time of an emulated load lies outside of these quantiles once in fifty times, by the emulator's own error. */
const LOW_QUANTILE = 0.01;
const HIGH_QUANTILE = 0.99;
/** Longer loads are sessions, milliseconds. */
const SESSION_MS = 120_000;
/** Round trips of the internet, milliseconds: less is a cache's or a proxy's on the machine, more is a wait. Assumed. */
const MIN_RTT_MS = 1;
const MAX_RTT_MS = 3000;

export function fitOf({ recording, network, scenarios, recorded, isOtherNetwork }: FitContext): FitFigures {
  const recordedMs = recording.pltMs;
  const emulatedMs = recorded === undefined || isOtherNetwork ? null : recorded.pltMs;
  const shrink = isCertain(network) ? (timesMs: readonly number[]) => timesMs : narrow;
  const explained = emulatedMs === null ? null : loadTime(shrink(emulatedMs), REPRODUCTION);
  const misfits: Misfit[] = [];
  let isPolicerAdded = false;
  for (const protocol of ['h3', 'h2'] as const) {
    const failed = recording.failedOver?.[protocol] ?? 0;
    if (failed > 0) misfits.push({ kind: 'protocol-failed', protocol, requests: failed });
  }
  if (recording.networkChanged === true) misfits.push({ kind: 'network-changed' });
  if (recording.missing === 'navigation') misfits.push({ kind: 'no-navigation' });
  else if (isAllCached(recording)) misfits.push({ kind: 'all-cached' });
  else if (isUnanswered(recording)) misfits.push({ kind: 'no-answer' });
  else if (leadsNowhere(recording)) misfits.push({ kind: 'no-page' });
  else if (recordedMs === null) misfits.push({ kind: 'no-load-event' });
  else if (recordedMs > SESSION_MS) misfits.push({ kind: 'session', recordedMs });
  else if (recorded !== undefined && emulatedMs !== null && explained !== null) {
    const quantile = quantilesOf(shrink(emulatedMs));
    const isPoliced = mayBePoliced(recorded, scenarios);
    const isFaster = recordedMs < quantile(LOW_QUANTILE);
    const isSlower = recordedMs > quantile(HIGH_QUANTILE) && !isPoliced;
    isPolicerAdded = isFaster && isPoliced && network.given.udp !== undefined;
    if ((isFaster && !isPolicerAdded) || isSlower) {
      misfits.push({ kind: 'load-time', recordedMs, explainedMs: explained.pltMs });
    }
  }
  const { rttMs } = network.path;
  const isPlausible = rttMs >= MIN_RTT_MS && rttMs <= MAX_RTT_MS;
  if (network.sources.rttMs === 'estimated' && !isPlausible && isOfInternet(recording)) {
    misfits.push({ kind: 'round-trip', rttMs });
  }
  const showsNoTrip = network.sources.rttMs === 'assumed' && showsNoWait(recording);
  if (showsNoTrip && !isUnanswered(recording)) misfits.push({ kind: 'no-round-trip' });
  return { recordedMs, explained, isPolicerAdded, misfits };
}

/** Moves times towards their median, in the logarithm, so that `DRAWN_SHARE` of their differences is left. */
function narrow(timesMs: readonly number[]): number[] {
  const centreMs = median(timesMs);
  return timesMs.map((ms) => centreMs * (ms / centreMs) ** DRAWN_SHARE);
}

/** Whether the load transferred nothing. The document is emulated nevertheless, as there is nothing else to emulate. */
const isAllCached = (recording: Recording): boolean =>
  loadRequests(recording).kept.every(({ fromCache }) => fromCache);

/** Whether all of the load failed: the name was not resolved, or no server answered. */
const isUnanswered = (recording: Recording): boolean => loadRequests(recording).kept.every(isFailed);

/** Whether all that was answered were redirects, the last of which led to a failure, such as that of a browser which was redirected too often. */
function leadsNowhere({ requests }: Recording): boolean {
  const redirects = new Set(
    requests.flatMap(({ initiator }) => (initiator.kind === 'redirect' ? (initiator.requestId ?? []) : [])),
  );
  return (
    requests.some(isFailed) && requests.every((request) => isFailed(request) || redirects.has(request.id))
  );
}

/** Whether no request shows when its response began. Browsers always show that of the document, unless it came from a cache. */
function showsNoWait(recording: Recording): boolean {
  const { requests } = recording;
  return !documentOf(recording).fromCache && requests.every(({ phases }) => phases.responseStartMs === null);
}

/** A policer explains that a load with HTTP/3 took longer than its emulation: what it drops may stall a load for many times as long. */
function mayBePoliced(recorded: Candidate, scenarios: readonly Scenario[]): boolean {
  const policed = scenarios.filter(({ path }) => path.udp.kind === 'policed');
  return usesH3(recorded) && policed.length > scenarios.length / 2;
}

/** Names that are never of the internet (RFC 6761, RFC 6762, RFC 9476 and ICANN's `internal`). */
const LOCAL_NAME = /(^|\.)(localhost|local|test|internal|alt|home\.arpa)$/;

/** Whether the page's server is on the internet, as far as the recording shows. */
function isOfInternet({ url, requests }: Recording): boolean {
  const host = hostOf(url);
  if (host === null || !host.includes('.') || LOCAL_NAME.test(host)) return false;
  if (/^[\d.]+$/.test(host) || host.startsWith('[')) return !isLocalAddress(host.replace(/[[\]]/g, ''));
  const address = requests.find((request) => hostOf(request.url) === host && request.remoteIp)?.remoteIp;
  if (!address || !isLocalAddress(address)) return true;
  // A proxy, behind which all sites have one address.
  const there = requests.filter(({ remoteIp }) => remoteIp === address);
  return new Set(there.map(({ url }) => siteKey(url))).size > 1;
}
