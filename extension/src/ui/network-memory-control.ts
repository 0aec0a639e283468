import { ask, type StoredLoad } from '../messages/page-messages.ts';
import { builder } from './dom.ts';
import { restsOn } from './network-evidence.ts';

const HOW =
  'Loads count as of one network until the browser says that it changed, or a load’s rates cannot be its; half as much ' +
  'after a day, and not at all after three. All of it stays in this browser.';

/** What is known of a load's network from earlier loads, and the button that forgets them. */
export function networkMemory(load: StoredLoad, onForgotten: () => void): HTMLElement {
  const el = builder();
  const cluster = load.cluster ?? null;
  const says = el('p', { class: 'hw-note', title: HOW }, restsOn(cluster, load.recording.recordedAt));
  if (cluster === null) return says;
  const forget = el('button', { type: 'button', class: 'hw-link' }, 'Forget earlier loads');
  forget.addEventListener('click', async () => {
    forget.disabled = true;
    const answer = await ask({ type: 'forget-networks' });
    if (answer.ok) onForgotten();
    else says.textContent = answer.error;
  });
  says.append(' ', forget);
  return says;
}
