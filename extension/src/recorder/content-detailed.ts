/** Content script of every frame of the pages that are recorded in detail, from their start on. */
import { FrameRecorder, isRecorded } from './frame-recorder.ts';
import type { RecordingCheck } from './page-timings.ts';
import { ScriptObserver } from './script-observer.ts';

if (!isRecorded()) {
  // Observing must not wait for the answer: the page's first requests come before.
  const mayRecord: Promise<boolean> = chrome.runtime
    .sendMessage({ type: 'check-recording' } satisfies RecordingCheck)
    .then((answer) => answer === true)
    .catch(() => false);
  new FrameRecorder(new ScriptObserver(), mayRecord);
}
