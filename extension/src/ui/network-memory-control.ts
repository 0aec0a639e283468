import { t } from '../language/translate.ts';
import { type StoredLoad, sendLoadRequest } from '../messages/load-messages.ts';
import { renderButton } from './controls.ts';
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
  const onClick = async () => {
    forget.disabled = true;
    const answer = await sendLoadRequest({ type: 'forget-networks' });
    if (answer.ok) onForgotten();
    else text.textContent = answer.error;
  };
  const forget = renderButton(t('memoryForget'), onClick, { class: 'hw-link' });
  text.append(' ', forget);
  return text;
}
