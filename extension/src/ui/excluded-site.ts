import { sendMemoryRequest } from '../messages/memory-messages.ts';
import { isOnSite } from '../storage/is-on-site.ts';

/** Whether the user has excluded the site of a page; false where the worker does not answer. */
export async function isExcludedSite(url: string): Promise<boolean> {
  const answer = await sendMemoryRequest({ type: 'settings' });
  return answer.ok && isOnSite(url, answer.settings.excludedSites);
}

/** Has the site of a page recorded again. @returns what failed; '' otherwise */
export async function includeSite(url: string): Promise<string> {
  const answer = await sendMemoryRequest({ type: 'settings' });
  if (!answer.ok) return answer.error;
  const excludedSites = answer.settings.excludedSites.filter((site) => !isOnSite(url, [site]));
  const changed = await sendMemoryRequest({ type: 'change-settings', change: { excludedSites } });
  return changed.ok ? '' : changed.error;
}
