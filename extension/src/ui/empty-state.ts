import type { LatestAnswer } from '../messages/page-messages.ts';

/**
 * Why a tab has nothing to show, and what to do.
 *
 * @param url of the tab; undefined where the browser hides it from extensions
 */
export function whyNothing(answer: LatestAnswer, url: string | undefined): string {
  if (answer.phase === 'failed') return answer.problem;
  if (url !== undefined && !/^https?:/.test(url)) {
    return 'This is one of the browser’s own pages or a file. hopwise looks at pages loaded over http and https.';
  }
  if (answer.phase === 'loading') {
    if (answer.problem) return `${answer.problem} It is tried again when its load event comes.`;
    return 'The page is loading. The answer comes a second after its load event.';
  }
  if (url === undefined) {
    return 'The browser lets no extension see this page. hopwise looks at pages loaded over http and https.';
  }
  return 'No load of this page was seen. Reload the page to record it.';
}
