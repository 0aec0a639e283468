import { type StoredLoad, sendLoadRequest } from '../messages/load-messages.ts';
import { builder } from './dom.ts';
import { describeNetworkEvidence } from './network-evidence.ts';

const EXPLANATION =
  'hopwise treats loads as being on the same network until the browser reports a network change or a load’s rates contradict ' +
  'it. The weight of earlier loads halves after a day, and they expire after three. All of this stays in this browser.';

/** States which loads the network figures come from, with a button that forgets earlier loads. */
export function renderNetworkMemory(load: StoredLoad, onForgotten: () => void): HTMLElement {
  const el = builder();
  const cluster = load.cluster ?? null;
  const text = el(
    'p',
    { class: 'hw-note', title: EXPLANATION },
    describeNetworkEvidence(cluster, load.recording.recordedAt),
  );
  if (cluster === null) return text;
  const forget = el('button', { type: 'button', class: 'hw-link' }, 'Forget earlier loads');
  forget.addEventListener('click', async () => {
    forget.disabled = true;
    const answer = await sendLoadRequest({ type: 'forget-networks' });
    if (answer.ok) onForgotten();
    else text.textContent = answer.error;
  });
  text.append(' ', forget);
  return text;
}
