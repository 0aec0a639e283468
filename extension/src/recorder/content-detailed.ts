/** Content script of every frame of the pages that are recorded in detail, from their start on. */
import { FrameRecorder, findOwnRecorder } from './frame-recorder.ts';
import { askMayRecord } from './may-record.ts';
import { ScriptObserver } from './script-observer.ts';

const earlier = findOwnRecorder();
if (!earlier?.isDetailed) {
  // The light script of the frame may have run first, as both run at its start. It has nothing that this one misses.
  earlier?.discardAll();
  // Observing must not wait for the answer: the page's first requests come before.
  const answer = askMayRecord(true);
  const recorder = new FrameRecorder(new ScriptObserver(), () => answer);
  void answer.then((mayRecord) => {
    if (!mayRecord) recorder.discardAll();
  });
}
