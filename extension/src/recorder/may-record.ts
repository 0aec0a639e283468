import type { RecordingCheck } from './page-timings.ts';

/** Asks the worker whether the user has not excluded the site of this frame, or of the page that contains it. */
export async function askMayRecord(): Promise<boolean> {
  try {
    return (await chrome.runtime.sendMessage({ type: 'check-recording' } satisfies RecordingCheck)) === true;
  } catch {
    // The extension was updated or removed while the page was open: there is no receiver any more.
    return false;
  }
}
