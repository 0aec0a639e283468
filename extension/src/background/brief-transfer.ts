import type { Verification } from '@hopwise/contract';
import type { verifyWithHelper } from '../helper/verify-with-helper.ts';
import { findBudget } from './verification-budget.ts';
import { verifyAndCount } from './verify-and-count.ts';

type Verify = typeof verifyWithHelper;
type Probe = Parameters<Verify>[0];

const LIMIT_MS = 10_000;

/**
 * Makes a few transfers with the helper, once and in the background. Only servers on the internet are asked: since the page was loaded, their names may
 * have come to lead to local addresses.
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
