import { plural } from '../language/translate.ts';
import { sendMemoryRequest } from '../messages/memory-messages.ts';
import { builder } from './dom.ts';
import { formatDuration } from './format.ts';

/** What a person does not notice is not worth a line. */
const MIN_SAVED_MS = 1_000;

/** One line that says how much time pins saved this week; empty while there is nothing to say. */
export async function renderSavedTime(): Promise<HTMLElement> {
  const line = builder()('p', { class: 'hw-note' });
  const answer = await sendMemoryRequest({ type: 'saved-time' });
  if (answer.ok && answer.saved.savedMs >= MIN_SAVED_MS) {
    const { savedMs, loads, estimated } = answer.saved;
    const time = formatDuration(savedMs);
    line.textContent = plural(estimated > 0 ? 'savedTimeEstimated' : 'savedTime', loads, { time });
  }
  line.hidden = line.textContent === '';
  return line;
}
