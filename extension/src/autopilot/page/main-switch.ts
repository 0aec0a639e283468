import { t } from '../../language/translate.ts';
import { sendPinRequest } from '../../pins/pin-messages.ts';
import { requestPinPermissions } from '../../pins/pin-permissions.ts';
import { renderCheckbox } from '../../ui/controls.ts';
import type { AutopilotClient } from './autopilot-client.ts';

/** The switch that turns the autopilot on and off. @param status says why it could not be, and what is missing */
export function renderMainSwitch(client: AutopilotClient, status: HTMLElement): HTMLElement {
  const { element, input } = renderCheckbox(t('autopilotOn'), client.settings.isOn, async (checked) => {
    // Without an await before it: browsers accept a request only directly in the handler of a click.
    const mayPin = checked ? await requestPinPermissions().catch(() => false) : true;
    input.checked = checked && mayPin;
    status.textContent = mayPin ? await client.changeSettings({ isOn: checked }) : t('autopilotNotAllowed');
    if (checked && mayPin) status.textContent ||= await findProblem();
  });
  client.onChange(() => {
    input.checked = client.settings.isOn;
  });
  return element;
}

/** Why pins are not possible at present, '' otherwise. Asking starts the helper. */
export async function findProblem(): Promise<string> {
  const answer = await sendPinRequest({ type: 'pins', fresh: true });
  return answer.ok ? '' : answer.error;
}
