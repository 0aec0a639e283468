/** The number on the extension's icon: how much faster a page could be. */
import { type Decision, EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import { timeByItself } from '@hopwise/pageload-emulator';
import { loadLanguage } from '../language/load-language.ts';
import { t } from '../language/translate.ts';
import { formatDurations, roundAsShown } from '../ui/format.ts';
import { isNoticeable } from '../ui/noticeable.ts';

/** The light theme's `--hw-focus`, on which white text is readable; the browser's toolbar has a theme of its own. */
const BADGE_COLOUR = '#0069b0';

interface NoticeableGain {
  beforeMs: number;
  afterMs: number;
  /** Whether later visits take longer by themselves than this first one. */
  isOfLaterVisits: boolean;
}

/**
 * What a decision's action gains, by the times that popup and panel show; where that is too little, in later visits, which may take longer by themselves.
 * Null for too little in both, and where there is nothing left to do.
 *
 * @param seenMs what the load took, without pins
 * @param pins the next load shows what the active ones gain
 */
function findNoticeableGain(
  decision: Decision,
  seenMs: number | null,
  pins: readonly PinState[],
): NoticeableGain | null {
  const { kind, action, baseline } = decision;
  const covered = action.kind === 'avoid-h3' ? [EVERY_ORIGIN, ...action.origins] : action.origins;
  if (kind !== 'act' || pins.some(({ state, origin }) => state === 'active' && covered.includes(origin)))
    return null;
  const afterMs = action.time.pltMs;
  const gains = [
    { beforeMs: timeByItself(decision, seenMs), afterMs, isOfLaterVisits: false },
    { beforeMs: baseline.laterPltMs, afterMs, isOfLaterVisits: true },
  ];
  return gains.find(({ beforeMs }) => isNoticeable(beforeMs, afterMs)) ?? null;
}

/** Shows the gain on the icon of a tab, explained in its tooltip, or nothing. The browser removes both with the tab's next page. */
export async function showBadge(
  tabId: number,
  decision: Decision | null,
  seenMs: number | null,
  pins: readonly PinState[],
): Promise<void> {
  const gain = decision && findNoticeableGain(decision, seenMs, pins);
  const text = gain ? nameGain(gain) : '';
  // Without a text of its own the tooltip is the extension's name.
  const title = gain ? await describeGain(gain) : '';
  try {
    await Promise.all([
      chrome.action.setBadgeText({ tabId, text }),
      chrome.action.setBadgeBackgroundColor({ tabId, color: BADGE_COLOUR }),
      chrome.action.setTitle({ tabId, title }),
    ]);
  } catch {
    // The tab was closed in the meantime.
  }
}

/** The gain in seconds, by the times as tooltip and popup round them: 10 s and 4.9 s differ by 5 s. */
function nameGain({ beforeMs, afterMs }: NoticeableGain): string {
  const [before, after] = roundAsShown(beforeMs, afterMs);
  return `−${Math.round((before - after) / 1000)}s`;
}

async function describeGain({ beforeMs, afterMs, isOfLaterVisits }: NoticeableGain): Promise<string> {
  await loadLanguage();
  const [before, after] = formatDurations(beforeMs, afterMs);
  return t(isOfLaterVisits ? 'badgeTitleLater' : 'badgeTitle', { before, after });
}
