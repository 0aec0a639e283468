import type { Protocol } from '@hopwise/contract';
import { builder } from '../../ui/dom.ts';
import { PROTOCOL_NAME } from '../../ui/format.ts';

export const CA_STEPS_ID = 'hw-ca-steps';

export interface CaStepsQuestion {
  /** `https://host[:port]`. */
  origin: string;
  protocol: Protocol;
  /** Hosts that the CA there is vouches for; none where there is no CA. */
  vouched: readonly string[];
  /** Why that could not be found out; '' when it was. */
  problem: string;
  onClose: () => void;
}

/** What a pin to a protocol takes that only the person can do, what it risks, and the commands to copy. Nothing is done here. */
export function caSteps({ origin, protocol, vouched, problem, onClose }: CaStepsQuestion): HTMLElement {
  const el = builder();
  const { hostname } = new URL(origin);
  const name = PROTOCOL_NAME[protocol];
  const hosts = [...new Set([...vouched, hostname])].sort();
  const close = el('button', { type: 'button', class: 'hw-button' }, 'Close');
  close.addEventListener('click', onClose);
  const says = el('p', { class: 'hw-note', role: 'status' });
  const others =
    vouched.length === 0 ? '' : ` It takes the place of the one that you have, so it names all its hosts:`;
  return el(
    'section',
    { id: CA_STEPS_ID, class: 'hw-steps', 'aria-labelledby': `${CA_STEPS_ID}-title` },
    el('h4', { id: `${CA_STEPS_ID}-title`, tabindex: '-1' }, `To hold ${hostname} to ${name}`),
    problem === '' ? null : el('p', {}, problem),
    el(
      'p',
      {},
      `The helper has to stand in for ${hostname} towards this browser, and to ask it over ${name} in your place. So the browser ` +
        'must trust a certificate authority (CA) of the helper’s. Only you can make one, and take it away again.',
    ),
    el(
      'p',
      {},
      el('strong', {}, 'What you risk: '),
      `whoever gets at that CA’s keys, such as any program that runs as you, can pose as ${hosts.join(', ')} ` +
        'towards this browser, and read and change what you exchange, passwords included. It vouches for no other host. Do this ' +
        'for hosts that you develop or test.',
    ),
    el(
      'ol',
      {},
      el(
        'li',
        {},
        `Make the CA.${others}`,
        command(`npx hopwise-host ca create ${hosts.map((host) => `https://${host}`).join(' ')}`, says),
      ),
      el('li', {}, 'Have your browsers trust it.', command('npx hopwise-host ca trust', says)),
      el('li', {}, `Restart the browser, load the page again, and choose “Hold to ${name}”.`),
    ),
    el('p', { class: 'hw-note' }, 'To undo all of it:', command('npx hopwise-host ca remove', says)),
    says,
    close,
  );
}

function command(text: string, says: HTMLElement): HTMLElement {
  const el = builder();
  const code = el('code', {}, text);
  const copy = el('button', { type: 'button', class: 'hw-link', 'aria-label': `Copy ${text}` }, 'Copy');
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      says.textContent = 'Copied.';
    } catch {
      // Inside DevTools pages may not write to the clipboard.
      getSelection()?.selectAllChildren(code);
      says.textContent = 'Selected: copy it with the keyboard.';
    }
  });
  return el('span', { class: 'hw-command' }, code, copy);
}
