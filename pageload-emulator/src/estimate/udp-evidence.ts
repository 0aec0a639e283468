import type { Assignment, NetworkPath, Recording, UdpShares, UdpTreatment } from '@hopwise/contract';
import { type LogDensity, logNormal } from '../network/log-density.ts';
import { POLICED_BPS_PRIOR } from '../network/priors.ts';
import { UDP_PRIOR } from '../network/udp-prior.ts';
import { MIN_RATE_BYTES } from '../recording/link-rate.ts';
import { responseBytesOf } from '../recording/sizes.ts';
import { hasH3Answer } from '../recording/visit.ts';
import { originOf } from '../util/url.ts';
import type { PathAt } from './candidate-replays.ts';
import type { PathFit } from './fit-path.ts';
import { isShownPoliced } from './fit-policer.ts';
import type { RecordedFit } from './fit-recording.ts';
import { handshakesQueued } from './handshake-queue.ts';
import { loadTimeLikelihood } from './load-time-evidence.ts';
import type { PosteriorInput } from './posterior-input.ts';

/** Error of a measured policer's rate: standard deviation of the logarithm. */
const MEASURED_SPREAD = 0.25;
/** Likelihood ratio for blocked UDP by each origin whose HTTP/3 offer went unused, and how many count at most; assumed. */
const UNUSED_OFFER_RATIO = 2;
const MAX_UNUSED_OFFERS = 3;
/** Within this time a browser has tried an HTTP/3 offer. */
const TRIED_AFTER_MS = 500;
/**
 * How probable a policer may seem from a load whose responses came over HTTP/3 alone: a slow link with a short queue looks alike. Of 22 such
 * loads of generated pages that seemed policed with more than this probability, 20 were; half of all were policed, half on slow links.
 */
const MAX_POLICED_WITHOUT_TCP = 0.9;
/**
 * How probable it is that handshakes of such a load wait in a queue (`handshakesQueued`): 35 of 40 loads on slow links of 0.5 to 4 Mbit/s, 10 of
 * 45 under policers of these rates, of generated pages.
 */
const QUEUED = { slow: 0.87, policed: 0.22 };
/** A policer that the fit holds for less probable than this would be likely only where the load took 23 times as long as on an open path. */
const RULED_OUT = 1e-4;
/** Later loads take a policer to be more probable than this anyway, and hardly any scenario has it. */
const NEGLIGIBLE = 0.001;
/** Quantiles of loss and of a policer's rate over which the likelihood of the load time is averaged, the most typical first. */
const LOAD_TIME_SHARES = [0.5, 0.15, 0.85];

/** What is inferred of UDP. */
export interface UdpPosterior {
  /** The likeliest treatment. */
  treatment: UdpTreatment;
  shares: UdpShares;
  /** A policer's rate, bits per second. */
  policedBps: LogDensity;
  /** The link's downstream rate under the likeliest treatment, bits per second. */
  downBps: LogDensity;
  /** Events of random loss per packet under the likeliest treatment. */
  loss: LogDensity;
}

/** Infers how UDP is treated: from knowledge, else from the fit, the load time and the offers of HTTP/3 that went unused. */
export function udpPosterior(input: PosteriorInput, fit: RecordedFit, pathAt: PathAt): UdpPosterior {
  const { udp: known, measured } = input;
  const policedBps = policedRate(measured.udp, fit);
  if (known !== undefined) {
    const is = (kind: UdpTreatment['kind']) => Number(known.kind === kind);
    const shares = { open: is('open') + is('lossy'), policed: is('policed'), blocked: is('blocked') };
    return { treatment: known, shares, policedBps, downBps: fit.downBps, loss: fit.loss };
  }
  const shown = policedShareByLoadTime(input, fit, pathAt);
  const policedShare = showsLink(input) ? shown : policedWithoutTcp(input, fit, shown);
  const blocked = fit.offersIgnored * blockedShare(input);
  const policed = (1 - blocked) * policedShare;
  return {
    treatment: policed > 0.5 ? { kind: 'policed', bps: policedBps.quantile(0.5) } : { kind: 'open' },
    shares: { open: 1 - blocked - policed, policed, blocked },
    policedBps,
    downBps: policedShare > 0.5 ? fit.policed.downBps : fit.downBps,
    loss: policedShare > 0.5 ? fit.policed.loss : fit.loss,
  };
}

/** The probability of a policer after a load over HTTP/3 alone. @param shown what its responses show */
function policedWithoutTcp({ recording }: PosteriorInput, { policed }: RecordedFit, shown: number): number {
  const capped = Math.min(MAX_POLICED_WITHOUT_TCP, shown);
  const isQueued = handshakesQueued(recording, policed.bps.quantile(0.5));
  if (isQueued === null) return capped;
  const [ifPoliced, ifSlow] = isQueued
    ? [QUEUED.policed, QUEUED.slow]
    : [1 - QUEUED.policed, 1 - QUEUED.slow];
  const share = (capped * ifPoliced) / (capped * ifPoliced + (1 - capped) * ifSlow);
  return Math.min(MAX_POLICED_WITHOUT_TCP, share);
}

/** Whether the link's rate is known by more than responses over HTTP/3. */
export function showsLink({ recording, given, measured, prior }: PosteriorInput): boolean {
  if (given.downBps !== undefined || measured.downBps !== undefined || prior.showsLink) return true;
  const overTcp = recording.requests.filter(({ protocol }) => protocol === 'h1' || protocol === 'h2');
  return overTcp.reduce((sum, request) => sum + responseBytesOf(request), 0) >= MIN_RATE_BYTES;
}

function policedRate(measured: PosteriorInput['measured']['udp'], { policed }: PathFit): LogDensity {
  return measured?.kind === 'policed'
    ? POLICED_BPS_PRIOR.given((bps) => logNormal(bps, measured.bps, MEASURED_SPREAD))
    : policed.bps;
}

/**
 * Probability that UDP is policed, given that it is not blocked: that of the fit, updated by how well an open and a policed path
 * explain the load time.
 */
function policedShareByLoadTime(
  { recording, graph, estimate, given, prior }: PosteriorInput,
  { policedShare, offersIgnored, loss, queueMs, downBps, policed }: RecordedFit,
  pathAt: PathAt,
): number {
  const ignored = recording.requests.some(({ protocol }) => protocol === 'h3') ? 0 : offersIgnored;
  // Where no request went over HTTP/3, the load time shows nothing about UDP.
  const shown = policedShare - ignored * prior.policed(UDP_PRIOR.policed);
  if (shown < RULED_OUT || ignored === 1) return policedShare;
  const likelihood = (
    link: { downBps: LogDensity; loss: LogDensity },
    treatmentAt: (share: number) => UdpTreatment,
  ) => {
    const path = pathAt(given.downBps ?? link.downBps.quantile(0.5), queueMs.quantile(0.5));
    const paths = LOAD_TIME_SHARES.map(
      (share): NetworkPath => ({
        ...path,
        loss: given.loss ?? link.loss.quantile(share),
        udp: treatmentAt(share),
      }),
    );
    return loadTimeLikelihood(recording, graph(), estimate.servers, paths);
  };
  const ifOpen = likelihood({ downBps, loss }, () => ({ kind: 'open' }));
  // No likelihood exceeds 1, so what a policed path explains need not be known where an open one explains enough.
  if (ifOpen === null || shown < NEGLIGIBLE * (shown + (1 - shown) * ifOpen)) return policedShare;
  const ifPoliced = likelihood(policed, (share) => ({
    kind: 'policed',
    bps: policed.bps.quantile(share),
  }));
  if (ifPoliced === null || ifOpen + ifPoliced === 0) return policedShare;
  const all = shown * ifPoliced + (1 - shown) * ifOpen;
  const share = (shown * ifPoliced + (policedShare - shown) * ifOpen) / all;
  // What earlier loads showed stays as likely as the fit leaves it.
  const known = prior.policed(UDP_PRIOR.policed);
  return isShownPoliced(known) ? Math.max(share, Math.min(policedShare, known)) : share;
}

/** Probability that UDP is blocked: 0 if HTTP/3 answered; it grows with each origin whose HTTP/3 offer went unused. */
function blockedShare({ recording, measured, prior, pinned }: PosteriorInput): number {
  if (hasH3Answer(recording) || measured.udp?.kind === 'unblocked') return 0;
  const blocked = prior.blocked(UDP_PRIOR.blocked);
  const unused = Math.min(MAX_UNUSED_OFFERS, unusedOffers(recording, pinned));
  const odds = (blocked / (1 - blocked)) * UNUSED_OFFER_RATIO ** unused;
  return odds / (1 + odds);
}

/**
 * Counts origins that offered HTTP/3 in a response and were still requested over TCP after the time in which a browser tries
 * an offer, though no pin held them to it. The evidence is weak: a browser may continue to use an open HTTP/2 connection.
 */
function unusedOffers({ requests }: Recording, pinned: Assignment): number {
  const offeredMs = new Map<string, number>();
  const unused = new Set<string>();
  for (const { url, startMs, endMs, offersH3 } of requests) {
    const origin = originOf(url);
    if (origin === null || !offersH3 || pinned[origin] !== undefined) continue;
    const atMs = offeredMs.get(origin);
    if (atMs === undefined) offeredMs.set(origin, endMs);
    else if (startMs > atMs + TRIED_AFTER_MS) unused.add(origin);
  }
  return unused.size;
}
