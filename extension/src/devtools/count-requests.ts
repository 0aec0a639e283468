import type { Prediction, Recording } from '@hopwise/contract';
import { plural, t } from '../language/translate.ts';

/** `169 requests, 103 of them before the load event`: all that are listed, and those that predictions are about. */
export function countRequests({ requests }: Recording, prediction: Prediction | null): string {
  const counted = plural('requests', requests.length);
  const before = prediction?.page.requests ?? requests.length;
  return before < requests.length ? t('requestsBeforeLoad', { requests: counted, before }) : counted;
}
