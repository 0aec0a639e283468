import { DAY_MS, type MeasuredLoads, mean, type VerifiedProtocol } from '@hopwise/contract';
import { BROWSER_NOISE } from '../scenarios/spread.ts';
import type { LoadScatter, RatioObservation, TimeObservation } from './belief.ts';
import type { Candidate } from './candidates.ts';

/** Standard deviation of the logarithm of one load's time around the median of its page, network and protocols. */
export const LOAD_NOISE = 0.15;
/**
 * The same deviation for the recorded load, whose network and servers are those of the emulation: what single loads scatter by where
 * nothing is lost at random (`npm run bench -- accuracy` prints it).
 */
const RECORDED_NOISE = 0.05;
/**
 * The same deviations of the parts of a single load to come, beyond what its own losses do: of the part that depends on the protocol, the
 * browser's scatter; of the rest, what servers and scripts take longer at one time than at another, so that the decision's ranges hold three
 * to nine of ten loads of the golden set that were not recorded (`npm run bench -- accuracy golden`).
 */
export const LATER_LOAD: LoadScatter = { own: BROWSER_NOISE, shared: 0.1 };

/** Age at which measured loads count half, milliseconds: networks and pages change within days. */
const HALF_LIFE_MS = 3 * DAY_MS;

/** Standard deviation of the logarithm of one round's time, at least. */
const ROUND_NOISE = 0.05;
/**
 * How far the ratio of two protocols' load times may be from that of their transfers, which lack script execution and the
 * browser's scheduling: this much in the logarithm, and this share of it.
 */
const TRANSFER_DEVIATION = 0.08;
const TRANSFER_SHARE = 0.25;

/** What measured loads of a candidate show of its load time. The scenarios were drawn without them. */
export function loadsObservation(
  candidate: Candidate,
  { pltMs, ageMs }: Pick<MeasuredLoads, 'pltMs' | 'ageMs'>,
): TimeObservation<Candidate> {
  const weight = pltMs.length * 0.5 ** (Math.max(0, ageMs) / HALF_LIFE_MS);
  return {
    candidate,
    value: mean(pltMs.map(Math.log)),
    variance: LOAD_NOISE ** 2 / Math.max(weight, 1e-3),
    isNew: true,
  };
}

/** What the recorded load shows. The scenarios were drawn from its recording: their weights must not count it twice. */
export function recordedObservation(candidate: Candidate, pltMs: number): TimeObservation<Candidate> {
  return { candidate, value: Math.log(pltMs), variance: RECORDED_NOISE ** 2, isNew: false };
}

/** Transfers of the page as one candidate requests it. */
export interface VerifiedCandidate {
  candidate: Candidate;
  verified: VerifiedProtocol;
}

/**
 * What transfers as two candidates request the page show of the ratio of their load times.
 *
 * @returns null where one of them did not carry the page
 */
export function transferObservation(
  over: VerifiedCandidate,
  under: VerifiedCandidate,
): RatioObservation<Candidate> | null {
  const own = timeOf(over.verified, under.verified);
  const other = timeOf(under.verified, over.verified);
  if (own === null || other === null) return null;
  const value = own.value - other.value;
  const variance = own.variance + other.variance + TRANSFER_DEVIATION ** 2 + (TRANSFER_SHARE * value) ** 2;
  return { candidate: over.candidate, rival: under.candidate, value, variance };
}

/** Time that transfers as one candidate requests the page took less than those of another, milliseconds; null where one did not carry it. */
export function transferGainMs(over: VerifiedCandidate, under: VerifiedCandidate): number | null {
  const own = timeOf(over.verified, under.verified);
  const other = timeOf(under.verified, over.verified);
  return own === null || other === null ? null : Math.exp(other.value) - Math.exp(own.value);
}

/**
 * Mean of the logarithms of the rounds' times, and its variance.
 *
 * @param other what these are compared with: a round that lacks what one of the other's carried is no comparison, as what was cut short or
 *   refused ended sooner
 */
function timeOf(
  verified: VerifiedProtocol,
  other: VerifiedProtocol,
): { value: number; variance: number } | null {
  if (verified.unavailable !== '') return null;
  const carried = new Set(
    other.rounds.flatMap(({ transfers }) => transfers.filter(isCarried).map(({ index }) => index)),
  );
  const logs = verified.rounds
    .filter(
      ({ totalMs, transfers }) =>
        totalMs > 0 && transfers.every((one) => isCarried(one) || !carried.has(one.index)),
    )
    .map(({ totalMs }) => Math.log(totalMs));
  if (logs.length === 0) return null;
  const value = mean(logs);
  const spread =
    logs.length < 2 ? 0 : logs.reduce((sum, log) => sum + (log - value) ** 2, 0) / (logs.length - 1);
  return { value, variance: Math.max(ROUND_NOISE ** 2, spread) / logs.length };
}

/** Whether a transfer ended with what was asked for. Servers refuse one client or another over one of the protocols alone. */
const isCarried = ({ error, status }: VerifiedProtocol['rounds'][number]['transfers'][number]): boolean =>
  error === '' && status < 400;
