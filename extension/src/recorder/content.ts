/**
 * Content script of top frames, from their start on; of other frames after the load. It reads what the browser measured
 * by itself, and observes nothing of the page's document.
 */
import { FrameRecorder, findOwnRecorder } from './frame-recorder.ts';
import { askMayRecord } from './may-record.ts';

// Asked when there is something to send: before that it would start the worker while the page loads.
if (findOwnRecorder() === null) new FrameRecorder(null, () => askMayRecord(false));
