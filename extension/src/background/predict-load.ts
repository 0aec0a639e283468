/** Predictions for a recording, and the plan of its verification. */
import {
  type Language,
  messageOf,
  type TransferPlan,
  transferPlanSchema,
  type Verification,
} from '@hopwise/contract';
import {
  buildGraph,
  type Knowledge,
  measuredBy,
  type Prediction,
  parseCluster,
  predict,
  type Recording,
  transferPlan,
} from '@hopwise/pageload-emulator';
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import type { StoredLoad } from '../storage/loads.ts';

/** `shown`: for people, with the waterfalls and a long search for the best assignment. `decision`: what else acts on needs no more. */
export type Extent = 'shown' | 'decision';

const OPTIONS = { shown: { waterfall: true, thorough: true }, decision: {} } as const;

/**
 * Predicts a load. Never throws: when the recording cannot be emulated, `problem` gives the reason, which the
 * message `predictFailed` completes.
 *
 * @param knowledge what stored loads show of the page
 * @param language of the prediction's sentences
 * @param verification its network figures override those estimated from the recording
 */
export function predictLoad(
  { recording, cluster: stored, check }: Pick<StoredLoad, 'recording' | 'cluster' | 'check'>,
  knowledge: Knowledge,
  language: Language,
  extent: Extent,
  verification?: Verification,
): { prediction: Prediction | null; problem: string } {
  try {
    const figures = verification ? measuredBy(verification) : check;
    const measured = figures && { measured: figures };
    const cluster = parseCluster(stored);
    const prediction = predict(recording, { ...OPTIONS[extent], ...measured, cluster, knowledge, language });
    return { prediction, problem: '' };
  } catch (error) {
    return { prediction: null, problem: messageOf(error) };
  }
}

/** @throws Error with a message to show when the helper cannot transfer the page */
export function planVerification(recording: Recording): TransferPlan {
  if (!recording.url.startsWith('https://')) throw new ShownError(() => t('verifyNeedsHttps'));
  const plan = transferPlan(buildGraph(recording), recording, navigator.userAgent);
  if (!plan) throw new ShownError(() => t('verifyNothing'));
  return transferPlanSchema.parse(plan);
}
