/** From a recording to predictions and to the plan of a verification. */
import { type TransferPlan, transferPlanSchema, type Verification } from '@hopwise/native-host/messages';
import {
  buildGraph,
  type Prediction,
  parseCluster,
  predict,
  type Recording,
  transferPlan,
} from '@hopwise/pageload-emulator';
import type { StoredLoad } from '../storage/loads.ts';

/** Somebody looks at it: the waterfalls too, and the time that a good assignment takes. */
const WHOLE = { waterfall: true, thorough: true } as const;

/**
 * Predicts, or says why it cannot: recording and verification are kept either way.
 *
 * @param verification its figures of the network are put over those of the recording
 */
export function assess(
  { recording, cluster: kept }: Pick<StoredLoad, 'recording' | 'cluster'>,
  verification?: Verification,
): { prediction: Prediction | null; problem: string } {
  try {
    const options = { ...WHOLE, cluster: parseCluster(kept) };
    if (!verification) return { prediction: predict(recording, options), problem: '' };
    const measured = measuredBy(verification);
    const prediction = predict(recording, { measured, ...options });
    const udp = hamperedUdp(verification, prediction);
    return {
      prediction: udp ? predict(recording, { measured: { ...measured, udp }, ...options }) : prediction,
      problem: '',
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { prediction: null, problem: `This load was recorded, but not predicted: ${why}` };
  }
}

/** A page may hold films that it never plays to the end, each of which would be transferred whole. */
const MAX_BUDGET_BYTES = 500_000_000;

/** Bytes that a verification may take when nobody says: what the plan expects, with a margin. */
export function budgetOf(plan: TransferPlan, protocols: number, rounds: number): number {
  const planned = plan.transfers.reduce((sum, transfer) => sum + transfer.bytes, 0);
  return Math.min(MAX_BUDGET_BYTES, Math.ceil(1.5 * planned * protocols * rounds) + 1_000_000);
}

/** @throws Error when the page cannot be transferred by the helper */
export function planOf(recording: Recording): TransferPlan {
  if (!recording.url.startsWith('https://')) {
    throw new Error('Only pages loaded over https can be verified: HTTP/2 and HTTP/3 need it.');
  }
  const plan = transferPlan(buildGraph(recording), recording, navigator.userAgent);
  if (!plan) throw new Error('Nothing of this page can be transferred again: no GET over https.');
  return transferPlanSchema.parse(plan);
}

/**
 * Round trip, loss and UDP treatment as the transfers saw them. Loss events over segments received
 * stand for the loss of a packet downstream; the drops of a full queue among them are for `predict` to tell apart.
 */
export function measuredBy({ protocols, udp }: Verification) {
  const rounds = [protocols.h1, protocols.h2].flatMap((one) => one?.rounds ?? []);
  const roundTrips = rounds.flatMap((round) => round.minRttMs ?? []);
  const segments = rounds.reduce((sum, round) => sum + (round.segmentsIn ?? 0), 0);
  const losses = rounds.reduce((sum, round) => sum + (round.lossEvents ?? 0), 0);
  return {
    ...(roundTrips.length > 0 ? { rttMs: Math.min(...roundTrips) } : {}),
    ...(segments > 0 ? { loss: losses / segments } : {}),
    ...(udp === 'unknown' ? {} : { udp: { kind: udp } }),
  };
}

/** Transfers vary by less than this; a policer that matters costs more. */
const HAMPERED_FROM = 1.4;

/**
 * UDP held to a rate, when transfers over HTTP/3 took longer, against the faster of the TCP protocols, than
 * the network explains on which all of them ran.
 *
 * @param prediction with what the transfers measured of that network
 * @returns the rate at which the page came over HTTP/3; null when nothing speaks for it
 */
export function hamperedUdp(
  { protocols }: Verification,
  prediction: Prediction,
): { kind: 'policed'; bps: number } | null {
  const h3 = protocols.h3;
  const tcp = (['h1', 'h2'] as const).flatMap((protocol) => {
    const verifiedMs = protocols[protocol]?.medianMs;
    const predicted = prediction.protocols[protocol];
    return verifiedMs && 'pltMs' in predicted ? [{ verifiedMs, predictedMs: predicted.pltMs }] : [];
  });
  const predicted = prediction.protocols.h3;
  if (!h3?.medianMs || tcp.length === 0 || !('pltMs' in predicted)) return null;
  const verifiedRatio = h3.medianMs / Math.min(...tcp.map(({ verifiedMs }) => verifiedMs));
  const predictedRatio = predicted.pltMs / Math.min(...tcp.map(({ predictedMs }) => predictedMs));
  if (verifiedRatio < HAMPERED_FROM * predictedRatio || verifiedRatio <= 1) return null;
  const bytes = Math.max(...h3.rounds.map((round) => round.bytes));
  return { kind: 'policed', bps: (8000 * bytes) / h3.medianMs };
}
