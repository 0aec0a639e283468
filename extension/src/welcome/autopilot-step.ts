import { sendAutopilotRequest } from '../autopilot/autopilot-messages.ts';
import { AutopilotClient } from '../autopilot/page/autopilot-client.ts';
import { renderMainSwitch } from '../autopilot/page/main-switch.ts';
import { t } from '../language/translate.ts';
import { sendMemoryRequest } from '../messages/memory-messages.ts';
import { renderCard, renderExplanation } from '../ui/card.ts';
import { renderCheckbox, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

/** The step that offers the autopilot and the check of new networks, with what they may do. Both are off until then. */
export async function renderAutopilotStep(): Promise<HTMLElement> {
  const el = builder();
  const status = renderStatus();
  const [autopilot, memory] = await Promise.all([
    sendAutopilotRequest({ type: 'autopilot' }),
    sendMemoryRequest({ type: 'settings' }),
  ]);
  if (!autopilot.ok || !memory.ok) {
    const problem = [autopilot, memory].map((each) => (each.ok ? '' : each.error)).find(Boolean);
    return renderCard(t('autopilotStepTitle'), el('p', {}, problem));
  }
  const main = renderMainSwitch(new AutopilotClient(autopilot), status);
  const check = renderCheckbox(
    t('networkCheckSwitch'),
    memory.settings.checksNetworks,
    async (checksNetworks) => {
      const answer = await sendMemoryRequest({ type: 'change-settings', change: { checksNetworks } });
      status.textContent = answer.ok ? '' : answer.error;
    },
  );
  return renderCard(
    t('autopilotStepTitle'),
    el('p', {}, t('autopilotStepReason')),
    main,
    check.element,
    status,
    renderExplanation(t('autopilotStepTitle'), t('autopilotExplanation'), t('networkCheckExplanation')),
  );
}
