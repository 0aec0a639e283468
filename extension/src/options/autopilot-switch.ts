import { EVERY_ORIGIN } from '@hopwise/contract';
import { OBJECTIVES, type Objective } from '@hopwise/model';
import type { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { renderMainSwitch } from '../autopilot/page/main-switch.ts';
import { renderNetworkSwitch } from '../autopilot/page/network-switch.ts';
import { isRunning } from '../autopilot/runs/autopilot-run.ts';
import { MIN_GAIN_MS_RANGE, MIN_GAIN_RANGE } from '../autopilot/settings/autopilot-settings.ts';
import { type PlainKey, plural, t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton, renderCheckbox, renderSelect, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { renderSavedTime } from '../ui/saved-time.ts';
import { renderNumberField } from './number-field.ts';

/** The autopilot's switch, what it may do, and the button that undoes everything. */
export function renderAutopilotSwitch(client: AutopilotClient): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const state = el('p', {});
  const holds = renderCheckbox(
    t('autopilotHolds'),
    client.settings.holdsProtocols,
    async (holdsProtocols) => {
      status.textContent = await client.changeSettings({ holdsProtocols });
    },
  );
  const explores = renderCheckbox(t('autopilotExplores'), client.settings.explores, async (explores) => {
    status.textContent = await client.changeSettings({ explores });
  });
  const undo = renderButton(t('autopilotUndo'), async () => {
    status.textContent = (await client.undoAll()) || t('autopilotUndone');
  });
  const update = () => {
    const open = client.runs.filter(isRunning);
    const origins = open.flatMap(({ pins }) => pins).filter(({ origin }) => origin !== EVERY_ORIGIN);
    state.textContent = describeState(client.settings.isOn, origins.length);
    undo.hidden = open.length === 0;
  };
  client.onChange(update);
  update();
  void renderSavedTime().then((line) => state.after(line));

  return renderCardOfGroup(
    t('autopilotRules'),
    renderMainSwitch(client, status),
    state,
    renderNetworkSwitch(client, status),
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
    explores.element,
    renderObjective(client, status),
    el('div', {}, undo),
    status,
    renderExplanation(
      t('autopilotRules'),
      t('autopilotExplanation'),
      t('autopilotHoldsNote'),
      t('autopilotExploresNote'),
    ),
  );
}

/** What trials compare load times by. */
function renderObjective(client: AutopilotClient, status: HTMLElement): HTMLElement {
  const select = renderSelect(
    OBJECTIVES.map((each) => [each, t(OBJECTIVE_NAME[each])] as const),
    {
      value: client.settings.objective,
      onChange: async (objective) => {
        status.textContent = await client.changeSettings({ objective });
      },
    },
  );
  return builder()('label', { class: 'hw-row' }, t('autopilotObjective'), select);
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
