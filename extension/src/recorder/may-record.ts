import type { RecordingCheck } from './page-timings.ts';

/**
 * Asks the worker whether the user has not excluded the site of this frame, or of the page that contains it.
 *
 * @param isDetailed whether the frame is observed from its start on
 */
export async function askMayRecord(isDetailed: boolean): Promise<boolean> {
  const message: RecordingCheck = { type: 'check-recording', isDetailed, timeOrigin: performance.timeOrigin };
  try {
    return (await chrome.runtime.sendMessage(message)) === true;
  } catch {
    // The extension was updated or removed while the page was open: there is no receiver any more.
    return false;
  }
}
