import { t } from '../language/translate.ts';
import type { LatestAnswer } from '../messages/load-messages.ts';

/**
 * Explains why a tab has no load to show, and what the user can do.
 *
 * @param url URL of the tab; undefined if the browser hides it from extensions
 */
export function explainEmptyState(answer: LatestAnswer, url: string | undefined): string {
  if (answer.phase === 'failed') return answer.problem;
  if (url !== undefined && !/^https?:/.test(url)) {
    return t('emptyBrowserPage');
  }
  if (answer.phase === 'loading') {
    if (answer.problem) return t('emptyRetry', { problem: answer.problem });
    return t('emptyLoading');
  }
  if (url === undefined) {
    return t('emptyHidden');
  }
  return t('emptyNone');
}
