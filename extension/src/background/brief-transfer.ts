import type { Verification } from '@hopwise/contract';
import type { verifyWithHelper } from '../helper/verify-with-helper.ts';
import { findBudget } from './verification-budget.ts';
import { verifyAndCount } from './verify-and-count.ts';

type Verify = typeof verifyWithHelper;
type Probe = Parameters<Verify>[0];

const LIMIT_MS = 10_000;

/**
 * Has the helper make a few transfers once that nobody asked for and nobody watches, from servers on the internet alone: by now their names may lead
 * to local ones.
 *
 * @param maxBytes what they may take, less where the day's data leave less
 * @throws ShownError when the day's data are spent
 * @throws HelperError as `verifyWithHelper`, also where they take more than ten seconds
 */
export async function transferBriefly(
  plan: Probe['plan'],
  protocols: Probe['protocols'],
  maxBytes: number,
  verify: Verify,
): Promise<Verification> {
  const budgetBytes = Math.min((await findBudget()) ?? Number.POSITIVE_INFINITY, maxBytes);
  const probe = { plan, protocols, assignments: [], rounds: 1, budgetBytes, publicOnly: true };
  return verifyAndCount(probe, () => undefined, AbortSignal.timeout(LIMIT_MS), verify);
}
