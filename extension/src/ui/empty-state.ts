import type { LatestAnswer } from '../messages/load-messages.ts';

/**
 * Explains why a tab has no load to show, and what the user can do.
 *
 * @param url URL of the tab; undefined if the browser hides it from extensions
 */
export function explainEmptyState(answer: LatestAnswer, url: string | undefined): string {
  if (answer.phase === 'failed') return answer.problem;
  if (url !== undefined && !/^https?:/.test(url)) {
    return 'This is a page of the browser itself, or a file. hopwise records pages loaded over http and https.';
  }
  if (answer.phase === 'loading') {
    if (answer.problem) return `${answer.problem} hopwise tries again when the load event fires.`;
    return 'The page is loading. The prediction appears one second after the load event.';
  }
  if (url === undefined) {
    return 'The browser hides this page from extensions. hopwise records pages loaded over http and https.';
  }
  return 'No load of this page was recorded. Reload the page to record it.';
}
