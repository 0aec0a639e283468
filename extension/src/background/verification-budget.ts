import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import { readSettings } from '../storage/settings.ts';
import { readBytesToday } from '../storage/verification-data.ts';

/**
 * The most that the next verification may transfer, bytes; null for the helper's own limit.
 *
 * @throws Error with a message to show when nothing is left today
 */
export async function findBudget(): Promise<number | null> {
  const { maxVerificationBytes, maxDailyBytes } = await readSettings();
  if (maxDailyBytes === null) return maxVerificationBytes;
  const leftBytes = maxDailyBytes - (await readBytesToday());
  if (leftBytes <= 0) {
    throw new ShownError(() => t('verifyDailyLimit', { limit: maxDailyBytes / 1e6 }));
  }
  return Math.min(leftBytes, maxVerificationBytes ?? leftBytes);
}
