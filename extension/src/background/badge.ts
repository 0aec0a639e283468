/** The number on the extension's icon: how much faster a page could be. */
import type { Decision } from '@hopwise/contract';

/** What a person does not notice is not worth a badge: less than this, or less of the load time. */
const MIN_GAIN_MS = 1_000;
const MIN_GAIN = 0.2;

/** The light theme's `--hw-focus`, on which white text is readable; the browser's toolbar has a theme of its own. */
const BADGE_COLOUR = '#0069b0';

/**
 * Seconds that a decision's action gains; null for too little, and where there is nothing left to do.
 *
 * @param pinned origins with a pin: the next load shows what it gains
 */
function findNoticeableGain({ kind, action, baseline }: Decision, pinned: readonly string[]): number | null {
  if (kind !== 'act' || action.origins.some((origin) => pinned.includes(origin))) return null;
  const gainMs = baseline.pltMs - action.time.pltMs;
  return gainMs >= MIN_GAIN_MS && gainMs >= MIN_GAIN * baseline.pltMs ? gainMs / 1000 : null;
}

/** Shows the gain on the icon of a tab, or nothing. The browser removes it with the tab's next page. */
export async function showBadge(
  tabId: number,
  decision: Decision | null,
  pinned: readonly string[],
): Promise<void> {
  const seconds = decision && findNoticeableGain(decision, pinned);
  const text = seconds === null ? '' : `−${Math.round(seconds)}s`;
  try {
    await chrome.action.setBadgeText({ tabId, text });
    if (text !== '') await chrome.action.setBadgeBackgroundColor({ tabId, color: BADGE_COLOUR });
  } catch {
    // The tab was closed in the meantime.
  }
}
