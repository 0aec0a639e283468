import { HOUR_MS } from '@hopwise/contract';
import { readSettings } from './settings.ts';

/** Without the permission to hear of deletions from the browser's history, what a person removes there would stay here for longer. */
export const MAX_HOURS_UNHEARD = 24;

/** Whether the browser tells hopwise which pages are removed from its history: it offers the interface only with the permission. */
const hearsOfDeletions = (): boolean => chrome.history !== undefined;

/** How long what is known of pages is kept: as the user chose, but no more than a day where deletions are not heard of. */
export async function readAgeLimitMs(): Promise<number> {
  const { ageLimitHours } = await readSettings();
  return HOUR_MS * (hearsOfDeletions() ? ageLimitHours : Math.min(ageLimitHours, MAX_HOURS_UNHEARD));
}
