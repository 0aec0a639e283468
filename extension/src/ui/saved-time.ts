import { plural, t } from '../language/translate.ts';
import { sendMemoryRequest } from '../messages/memory-messages.ts';
import type { SavedTime } from '../storage/saved-time.ts';
import { builder } from './dom.ts';
import { formatDuration } from './format.ts';

/** What a person does not notice is not worth a line. */
const MIN_SAVED_MS = 1_000;

/** One line that says how much time pins saved this week, and of how many loads that is not known; empty while there is nothing to say. */
export async function renderSavedTime(): Promise<HTMLElement> {
  const line = builder()('p', { class: 'hw-note' });
  const answer = await sendMemoryRequest({ type: 'saved-time' });
  line.textContent = answer.ok ? describeSavedTime(answer.saved) : '';
  line.hidden = line.textContent === '';
  return line;
}

function describeSavedTime({ savedMs, loads, estimated, uncompared }: SavedTime): string {
  const time = formatDuration(savedMs);
  const saved = plural(estimated > 0 ? 'savedTimeEstimated' : 'savedTime', loads, { time });
  if (uncompared === 0) return savedMs >= MIN_SAVED_MS ? saved : '';
  const counted = savedMs >= MIN_SAVED_MS ? saved : t('savedTimeNone');
  return `${counted} ${plural('savedTimeUncompared', uncompared)}`;
}
