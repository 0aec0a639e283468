import { OBJECTIVES, type Objective } from '@hopwise/model';
import { isOpen } from '../autopilot/act.ts';
import { MIN_GAIN_MS_RANGE, MIN_GAIN_RANGE } from '../autopilot/autopilot-settings.ts';
import { type PlainKey, plural, t } from '../language/translate.ts';
import { sendPinRequest } from '../pins/pin-messages.ts';
import { requestPinPermissions } from '../pins/pin-permissions.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderCheckbox, renderStatus } from './controls.ts';
import { renderNumberField } from './number-field.ts';

/** The autopilot's switch, what it may do, and the button that undoes everything. */
export function renderAutopilotSwitch(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const state = el('p', {});
  const on = renderCheckbox(t('autopilotOn'), client.settings.isOn);
  const holds = renderCheckbox(t('autopilotHolds'), client.settings.holdsProtocols);
  const explores = renderCheckbox(t('autopilotExplores'), client.settings.explores);
  const undo = el('button', { type: 'button', class: 'hw-button' }, t('autopilotUndo'));

  on.input.addEventListener('change', async () => {
    const { checked } = on.input;
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const mayPin = checked ? await requestPinPermissions().catch(() => false) : true;
    on.input.checked = checked && mayPin;
    status.textContent = mayPin ? await client.changeSettings({ isOn: checked }) : t('autopilotNotAllowed');
    if (checked && mayPin) status.textContent ||= await findProblem();
  });
  holds.input.addEventListener('change', async () => {
    status.textContent = await client.changeSettings({ holdsProtocols: holds.input.checked });
  });
  explores.input.addEventListener('change', async () => {
    status.textContent = await client.changeSettings({ explores: explores.input.checked });
  });
  undo.addEventListener('click', async () => {
    status.textContent = (await client.undoAll()) || t('autopilotUndone');
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

  return renderCard(
    t('autopilotTitle'),
    on.element,
    el('p', { class: 'hw-note' }, t('autopilotExplanation')),
    state,
    renderNumberField({
      label: t('autopilotMinGain'),
      unit: t('autopilotMinGainUnit'),
      value: Math.round(client.settings.minGain * 100),
      min: MIN_GAIN_RANGE.min * 100,
      max: MIN_GAIN_RANGE.max * 100,
      onChange: (percent) => client.changeSettings({ minGain: percent / 100 }),
    }),
    renderNumberField({
      label: t('autopilotMinGainMs'),
      unit: 'ms',
      value: client.settings.minGainMs,
      ...MIN_GAIN_MS_RANGE,
      onChange: (minGainMs) => client.changeSettings({ minGainMs }),
    }),
    holds.element,
    el('p', { class: 'hw-note' }, t('autopilotHoldsNote')),
    explores.element,
    el('p', { class: 'hw-note' }, t('autopilotExploresNote')),
    renderObjective(client, status),
    el('div', {}, undo),
    status,
  );
}

/** What trials compare load times by. */
function renderObjective(client: AutopilotClient, status: HTMLElement): HTMLElement {
  const el = builder();
  const options = OBJECTIVES.map((each) => el('option', { value: each }, t(OBJECTIVE_NAME[each])));
  const select = el('select', { class: 'hw-select' }, ...options);
  select.value = client.settings.objective;
  select.addEventListener('change', async () => {
    status.textContent = await client.changeSettings({ objective: select.value as Objective });
  });
  return el('label', { class: 'hw-row' }, t('autopilotObjective'), select);
}

const OBJECTIVE_NAME = {
  median: 'objectiveMedian',
  p80: 'objectiveP80',
  p90: 'objectiveP90',
  mean: 'objectiveMean',
} as const satisfies Record<Objective, PlainKey>;

function describeState(isOn: boolean, origins: number): string {
  if (!isOn) return t('autopilotIsOff');
  return origins === 0 ? t('autopilotIsIdle') : plural('autopilotPins', origins);
}

/** Why pins are not possible at present, '' otherwise. Asking starts the helper. */
async function findProblem(): Promise<string> {
  const answer = await sendPinRequest({ type: 'pins', fresh: true });
  return answer.ok ? '' : answer.error;
}
