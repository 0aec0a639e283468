/**
 * Listens to deletions from the browser's history. The permission `history` is optional: without it, or until the user grants
 * it, there are no events.
 *
 * @param forgetAll called when the whole history was deleted
 * @param forgetPages called with the URLs of deleted pages
 */
export function listenToHistoryDeletions(
  forgetAll: () => void,
  forgetPages: (urls: readonly string[]) => void,
): void {
  const onRemoved = ({ allHistory, urls }: chrome.history.RemovedResult) => {
    if (allHistory) forgetAll();
    else forgetPages(urls ?? []);
  };
  // Registering one listener again has no effect.
  const listen = () => chrome.history?.onVisitRemoved.addListener(onRemoved);
  listen();
  chrome.permissions.onAdded.addListener(listen);
}
