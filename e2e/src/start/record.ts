import type { StoredLoad } from '@hopwise/extension/messages';
import { type DisturbanceWatch, disturbedBy } from '@hopwise/lab/loads/disturbance';
import type { BrowserLoadOptions } from '@hopwise/lab/loads/measuring-browser';

/** How often a recording that other work on the machine disturbed is repeated. */
const MAX_REPEATS = 2;

/** A browser whose extension records a page; see `ExtensionSession`. */
export interface ExtensionRecorder {
  observe(
    url: string,
    options: Pick<BrowserLoadOptions, 'timeoutMs' | 'initScript' | 'onLoadEvent'>,
  ): Promise<StoredLoad>;
  close(): Promise<void>;
}

interface RecordOptions<R extends ExtensionRecorder> {
  /** Starts a browser that has never loaded the page. */
  open(): Promise<R>;
  /** Resets the link to its state before the first load and starts watching the machine; null to watch nothing. */
  watch: (() => Promise<DisturbanceWatch>) | null;
  timeoutMs: number;
  initScript?: string;
  /** Keeps a disturbed recording, with a warning, instead of repeating it. */
  keepDisturbed?: boolean;
  /** Is given the reasons for repeating the recording. */
  onRepeat(reasons: readonly string[]): void;
}

/**
 * Records a page as a first visit. Predictions rest on this one load, so a disturbed one is repeated in a fresh browser, and
 * kept with a warning when the machine stays busy.
 *
 * @returns also the browser that made the recording, still open
 */
export async function recordPage<R extends ExtensionRecorder>(
  url: string,
  { open, watch, onRepeat, keepDisturbed, ...limits }: RecordOptions<R>,
): Promise<{ session: R; load: StoredLoad; warnings: string[] }> {
  const maxRepeats = keepDisturbed ? 0 : MAX_REPEATS;
  for (let repeats = 0; ; repeats++) {
    const session = await open();
    const watching = await watch?.();
    let reasons: string[] = [];
    const load = await session.observe(url, {
      ...limits,
      onLoadEvent: async () => {
        if (watching) reasons = disturbedBy(await watching.end());
      },
    });
    if (reasons.length > 0 && repeats < maxRepeats) {
      onRepeat(reasons);
      await session.close();
      continue;
    }
    const disturbed = `the recorded load was disturbed, and predictions rest on it: ${reasons.join(', ')}`;
    return { session, load, warnings: reasons.length > 0 ? [disturbed] : [] };
  }
}
