/** Content script of every frame of the pages that are recorded in detail, from their start on. */
import { FrameRecorder, isRecorded } from './frame-recorder.ts';
import { askMayRecord } from './may-record.ts';
import { ScriptObserver } from './script-observer.ts';

if (!isRecorded()) {
  // Observing must not wait for the answer: the page's first requests come before.
  const answer = askMayRecord(true);
  const recorder = new FrameRecorder(new ScriptObserver(), () => answer);
  void answer.then((mayRecord) => {
    if (!mayRecord) recorder.discardAll();
  });
}
