import { isOpen } from '../autopilot/act.ts';
import { MIN_GAIN_MS_RANGE, MIN_GAIN_RANGE } from '../autopilot/autopilot-settings.ts';
import { sendPinRequest } from '../pins/pin-messages.ts';
import { requestPinPermissions } from '../pins/pin-permissions.ts';
import { builder } from '../ui/dom.ts';
import { formatCount } from '../ui/format.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderNumberField } from './number-field.ts';
import { renderCheckbox, renderSection, renderStatus } from './section.ts';

const EXPLANATION =
  'After a page load that promises a gain, hopwise pins the origins concerned for a day. It compares the next five loads with those ' +
  'before, and removes pins that do not help, at the latest when the browser closes or changes networks. Your own proxy, local ' +
  'networks, login pages of networks and private windows are left alone.';
const HOLDS_NOTE =
  'The helper then decrypts these connections on this computer, with a certificate authority that you create for single hosts. ' +
  'Keeping a site off HTTP/3 needs none.';
const NOT_ALLOWED = 'It needs these permissions to make pins.';

/** The autopilot's switch, what it may do, and the button that undoes everything. */
export function renderAutopilotSwitch(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const state = el('p', {});
  const on = renderCheckbox('Let hopwise make pins by itself', client.settings.isOn);
  const holds = renderCheckbox('Also hold sites to one HTTP version', client.settings.holdsProtocols);
  const undo = el('button', { type: 'button', class: 'hw-button' }, 'Undo all');

  on.input.addEventListener('change', async () => {
    const { checked } = on.input;
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const mayPin = checked ? await requestPinPermissions().catch(() => false) : true;
    on.input.checked = checked && mayPin;
    status.textContent = mayPin ? await client.changeSettings({ isOn: checked }) : NOT_ALLOWED;
    if (checked && mayPin) status.textContent ||= await findProblem();
  });
  holds.input.addEventListener('change', async () => {
    status.textContent = await client.changeSettings({ holdsProtocols: holds.input.checked });
  });
  undo.addEventListener('click', async () => {
    status.textContent = (await client.undoAll()) || 'All is undone.';
  });
  const update = () => {
    const open = client.acts.filter(isOpen);
    const origins = open.flatMap(({ pins }) => pins);
    on.input.checked = client.settings.isOn;
    state.textContent = describeState(client.settings.isOn, origins.length);
    undo.hidden = open.length === 0;
  };
  client.onChange(update);
  update();

  return renderSection(
    'Autopilot',
    on.element,
    el('p', { class: 'hw-note' }, EXPLANATION),
    state,
    renderNumberField({
      label: 'Only where it saves at least',
      unit: '% of the load time',
      value: Math.round(client.settings.minGain * 100),
      min: MIN_GAIN_RANGE.min * 100,
      max: MIN_GAIN_RANGE.max * 100,
      onChange: (percent) => client.changeSettings({ minGain: percent / 100 }),
    }),
    renderNumberField({
      label: 'and at least',
      unit: 'ms',
      value: client.settings.minGainMs,
      ...MIN_GAIN_MS_RANGE,
      onChange: (minGainMs) => client.changeSettings({ minGainMs }),
    }),
    holds.element,
    el('p', { class: 'hw-note' }, HOLDS_NOTE),
    el('div', {}, undo),
    status,
  );
}

function describeState(isOn: boolean, origins: number): string {
  if (!isOn) return 'Off.';
  return origins === 0
    ? 'On. Nothing is pinned by it now.'
    : `On. ${formatCount(origins, 'origin')} pinned now.`;
}

/** Why pins are not possible at present, '' otherwise. Asking starts the helper. */
async function findProblem(): Promise<string> {
  const answer = await sendPinRequest({ type: 'pins', fresh: true });
  return answer.ok ? '' : answer.error;
}
