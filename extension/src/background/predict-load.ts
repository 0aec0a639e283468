/** From a recording to predictions and to the plan of a verification. */
import { type TransferPlan, transferPlanSchema, type Verification } from '@hopwise/contract';
import {
  buildGraph,
  measuredBy,
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
    const measured = verification && { measured: measuredBy(verification) };
    const prediction = predict(recording, { ...WHOLE, ...measured, cluster: parseCluster(kept) });
    return { prediction, problem: '' };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { prediction: null, problem: `This load was recorded, but not predicted: ${why}` };
  }
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
