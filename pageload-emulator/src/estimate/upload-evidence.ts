import { median, type RecordedRequest, type Recording } from '@hopwise/contract';
import { LogDensity } from '../network/log-density.ts';
import { PACKET } from '../network/packet.ts';
import { waitOf } from '../recording/origin-timings.ts';
import { findUploads, transportOf, type Uploaded } from '../recording/uploads.ts';
import { uploadTime } from '../transport/upload-time.ts';
import { originOf } from '../util/url.ts';
import type { NetworkEstimate } from './estimate-network.ts';

// Constants of the model of an upload's time. They were chosen on the training cells of `npm run bench -- reading --uploads`.

/** Smaller bodies leave within the noise. */
const MIN_BODY_BYTES = 3_000;
/** The largest uploads show the rate best; more of them only take time. */
const MAX_UPLOADS = 12;
/** Least time that is typical of servers, milliseconds. */
const MIN_SERVER_MS = 30;
/** Weight of what is known of servers' times: one delay makes several answers late, so that they are no independent draws. */
const SERVER_WEIGHT = 0.3;
/** Error of an upload's time: a constant, plus a share of the expected time. */
const NOISE_MS = 2;
const NOISE_SHARE = 0.12;
/** Share of answers that come before their request's body, such as refusals, and of bodies that the browser held back before it sent them. */
const OTHERWISE = 0.05;
/** The error of the model: standard deviation of the logarithm of the rate that fits best, around the true one. */
const RATE_ERROR = 0.2;
const WIRE_SHARE = 1 + PACKET.tcp.overheadBytes / PACKET.tcp.payloadBytes;

/** A request with a body, and its answer. */
interface Upload extends Uploaded {
  request: RecordedRequest;
  rttMs: number;
  /** From the request's first byte to the answer's, less a round trip, milliseconds. */
  excessMs: number;
}

/** What a recording's uploads show of the uplink. */
export interface UploadEvidence {
  largest: readonly Upload[];
  /** The period with the highest rate, from the start of an upload to the answer to one, less a round trip. */
  busiest: { bytes: number; tookMs: number };
  /** How much longer than a round trip other answers took, as a rule, milliseconds. */
  serverMs: number;
}

/** Finds a recording's uploads; null without any. */
export function uploadEvidence(
  { requests }: Recording,
  { path, servers }: NetworkEstimate,
): UploadEvidence | null {
  const extraMs = new Map(servers.map(({ origin, extraRttMs }) => [origin, extraRttMs]));
  const uploaded = findUploads(requests);
  const uploads: Upload[] = [];
  const othersMs: number[] = [];
  for (const request of requests) {
    const waitMs = waitOf(request);
    if (waitMs === null) continue;
    const rttMs = path.rttMs + (extraMs.get(originOf(request.url) ?? '') ?? 0);
    const excessMs = waitMs - rttMs;
    if (!request.requestBodyBytes) othersMs.push(excessMs);
    else if (request.requestBodyBytes >= MIN_BODY_BYTES)
      uploads.push({ request, rttMs, excessMs, ...uploaded.get(request.id)! });
  }
  if (uploads.length === 0) return null;
  const largest = uploads.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_UPLOADS);
  return {
    largest,
    busiest: busiestOf(largest),
    serverMs: Math.max(MIN_SERVER_MS, othersMs.length > 0 ? median(othersMs) : 0),
  };
}

function busiestOf(uploads: readonly Upload[]): UploadEvidence['busiest'] {
  let busiest = { bytes: 0, tookMs: 1 };
  for (const { request: first } of uploads) {
    const fromMs = first.phases.requestStartMs!;
    for (const { request: last, rttMs } of uploads) {
      const toMs = last.phases.responseStartMs!;
      const within = uploads.filter(
        ({ request: { phases } }) => phases.requestStartMs! >= fromMs && phases.responseStartMs! <= toMs,
      );
      const bytes = within.reduce((sum, { request }) => sum + request.requestBodyBytes!, 0);
      const tookMs = Math.max(1, toMs - fromMs - rttMs);
      if (bytes * busiest.tookMs > busiest.bytes * tookMs) busiest = { bytes, tookMs };
    }
  }
  return busiest;
}

/**
 * Updates the upstream rate, bits per second. A body is on the uplink for no longer than its answer took, less the server's time, and for
 * no shorter than the browser took to write it: what the system has buffered by then leaves later.
 */
export function givenUploads(evidence: UploadEvidence | null, prior: LogDensity): LogDensity {
  if (evidence === null) return prior;
  const { largest, busiest, serverMs } = evidence;
  const likelihood = prior.values.map((upBps) => {
    const carriedMs = (8000 * WIRE_SHARE * busiest.bytes) / upBps;
    let log = logUnlessLate(busiest.tookMs - carriedMs, carriedMs);
    for (const { request, rttMs, excessMs, bytes, beforeBytes } of largest) {
      const { requestBodyBytes, requestBodyMs } = request;
      const timeOf = (sent: number) => uploadTime(sent, beforeBytes, transportOf(request), rttMs, upBps);
      const leastMs = timeOf(requestBodyBytes!);
      const mostMs = timeOf(bytes);
      log += logUnlessLate(excessMs - leastMs, leastMs);
      log += logUnlessLate(mostMs - (requestBodyMs ?? 0), mostMs);
      // Servers' times spread widely: beyond the typical one, twice the time is half as likely.
      log -= SERVER_WEIGHT * Math.log(serverMs + Math.max(0, excessMs - mostMs));
    }
    return log;
  });
  return prior.times(new LogDensity(prior.values, likelihood).blurred(RATE_ERROR));
}

/**
 * Logarithm of the likelihood that something took no longer than it may have, by Student's t distribution, whose heavy tails allow for lost
 * packets.
 *
 * @param spareMs negative where it would have taken longer
 * @param expectedMs time whose error counts
 */
function logUnlessLate(spareMs: number, expectedMs: number): number {
  if (spareMs >= 0) return 0;
  const off = spareMs / (NOISE_MS + NOISE_SHARE * expectedMs);
  return Math.log((1 - OTHERWISE) * (1 + (off * off) / 4) ** -2.5 + OTHERWISE);
}
