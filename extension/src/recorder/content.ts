/**
 * Content script of top frames, after their document is parsed; of other frames after the load. It reads what the browser measured
 * by itself, and observes nothing of the page's document.
 */
import { FrameRecorder, isRecorded } from './frame-recorder.ts';

// The worker knows which sites are excluded, and keeps nothing of them.
if (!isRecorded()) new FrameRecorder(null, Promise.resolve(true));
