import { t } from '../language/translate.ts';
import type { LatestAnswer } from '../messages/load-messages.ts';
import { renderButton } from './controls.ts';
import { builder } from './dom.ts';

/** What is shown where there is no prediction: its name, what it means, and what a person can do. */
export interface EmptyView {
  name: string;
  text: string;
  action: { words: string; run: () => unknown };
}

export function renderEmptyView({ name, text, action }: EmptyView): HTMLElement {
  const el = builder();
  return el(
    'div',
    { class: 'hw-empty' },
    el('h2', { class: 'hw-empty-name' }, name),
    el('p', {}, text),
    renderButton(action.words, action.run),
  );
}

/** What a view of a tab without a load depends on. */
interface EmptyTab {
  answer: LatestAnswer;
  /** URL of the tab; undefined if the browser hides it from extensions. */
  url: string | undefined;
  /** Whether the user has excluded its site. */
  isExcluded: boolean;
  reload: () => Promise<unknown>;
  recordAgain: () => Promise<unknown>;
}

/** Explains why a tab has no load to show; null while its page loads, which shows one soon. */
export function describeEmptyTab({
  answer,
  url,
  isExcluded,
  reload,
  recordAgain,
}: EmptyTab): EmptyView | null {
  const again = { words: t('popupReload'), run: reload };
  if (url !== undefined && !/^https?:/.test(url))
    return { name: t('emptyBrowserName'), text: t('emptyBrowserPage'), action: showFirstSteps() };
  if (isExcluded) {
    const text = t('emptyExcluded', { site: new URL(url!).hostname });
    return {
      name: t('emptyExcludedName'),
      text,
      action: { words: t('excludedRecordAgain'), run: recordAgain },
    };
  }
  if (answer.phase === 'failed') return { name: t('emptyFailedName'), text: answer.problem, action: again };
  if (answer.phase === 'loading') {
    if (answer.problem === '') return null;
    const text = t('emptyRetry', { problem: answer.problem });
    return { name: t('emptyLoadingName'), text, action: again };
  }
  if (url === undefined)
    return { name: t('emptyHiddenName'), text: t('emptyHidden'), action: showFirstSteps() };
  return { name: t('emptyNoneName'), text: t('emptyNone'), action: again };
}

/** Explains why a recorded load has no prediction. */
export const describeUnpredicted = (problem: string, reload: () => unknown): EmptyView => ({
  name: t('emptyNoPredictionName'),
  text: problem,
  action: { words: t('popupReload'), run: reload },
});

/** Explains that the worker refused to answer. */
export const describeRefusal = (problem: string, ask: () => unknown): EmptyView => ({
  name: t('emptyErrorName'),
  text: problem,
  action: { words: t('popupTryAgain'), run: ask },
});

export const showFirstSteps = (): EmptyView['action'] => ({
  words: t('firstSteps'),
  run: () => chrome.tabs.create({ url: chrome.runtime.getURL('welcome.html') }),
});
