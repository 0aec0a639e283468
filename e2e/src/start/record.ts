import type { StoredLoad } from '@hopwise/extension/messages';
import { type DisturbanceWatch, disturbedBy } from '@hopwise/lab/loads/disturbance';
import type { LoadOptions } from '@hopwise/lab/loads/measuring-browser';

/** A recording that other work on the machine disturbed is made again so often. */
const MOST_REPEATS = 2;

/** A browser whose extension records a page; see `ExtensionSession`. */
export interface Recorder {
  observe(
    url: string,
    options: Pick<LoadOptions, 'timeoutMs' | 'initScript' | 'onLoadEvent'>,
  ): Promise<StoredLoad>;
  close(): Promise<void>;
}

export interface RecordOptions<R extends Recorder> {
  /** Starts a browser that has not met the page. */
  open(): Promise<R>;
  /** Makes the link as it was before the first load, and begins to watch the machine; null where nothing is watched. */
  watch: (() => Promise<DisturbanceWatch>) | null;
  timeoutMs: number;
  initScript?: string;
  /** Keeps a disturbed recording, with its warning. */
  keepDisturbed?: boolean;
  /** Hears why the recording is made again. */
  onRepeat(reasons: readonly string[]): void;
}

/**
 * Records a page as a first visit. Predictions rest on this one load, so a disturbed one is made again in a fresh browser, and kept with a
 * warning when the machine does not let up.
 *
 * @returns the browser that made it, still open
 */
export async function recordPage<R extends Recorder>(
  url: string,
  { open, watch, onRepeat, keepDisturbed, ...limits }: RecordOptions<R>,
): Promise<{ session: R; load: StoredLoad; warnings: string[] }> {
  const most = keepDisturbed ? 0 : MOST_REPEATS;
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
    if (reasons.length > 0 && repeats < most) {
      onRepeat(reasons);
      await session.close();
      continue;
    }
    const disturbed = `the recorded load was disturbed, and predictions rest on it: ${reasons.join(', ')}`;
    return { session, load, warnings: reasons.length > 0 ? [disturbed] : [] };
  }
}
