import { t } from '../language/translate.ts';
import { type StoredLoad, sendLoadRequest } from '../messages/load-messages.ts';
import { builder } from './dom.ts';
import { describeNetworkEvidence } from './network-evidence.ts';

/** States which loads the network figures come from, with a button that forgets earlier loads. */
export function renderNetworkMemory(load: StoredLoad, onForgotten: () => void): HTMLElement {
  const el = builder();
  const cluster = load.cluster ?? null;
  const text = el(
    'p',
    { class: 'hw-note', title: t('memoryExplanation') },
    describeNetworkEvidence(cluster, load.recording.recordedAt),
  );
  if (cluster === null) return text;
  const forget = el('button', { type: 'button', class: 'hw-link' }, t('memoryForget'));
  forget.addEventListener('click', async () => {
    forget.disabled = true;
    const answer = await sendLoadRequest({ type: 'forget-networks' });
    if (answer.ok) onForgotten();
    else text.textContent = answer.error;
  });
  text.append(' ', forget);
  return text;
}
