import { HelperWatch } from '../../helper/helper-watch.ts';
import { t } from '../../language/translate.ts';
import { sendPinRequest } from '../../pins/pin-messages.ts';
import { requestPinPermissions } from '../../pins/pin-permissions.ts';
import { renderCheckbox } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import type { AutopilotClient } from './autopilot-client.ts';
import { renderHelperWarning } from './helper-warning.ts';

/** The switch that turns the autopilot on and off. @param status says why it could not be, and what is missing */
export function renderMainSwitch(
  client: AutopilotClient,
  status: HTMLElement,
  helper = new HelperWatch(),
): HTMLElement {
  const { element, input } = renderCheckbox(t('autopilotOn'), client.settings.isOn, async (checked) => {
    status.textContent = '';
    input.checked = await switchAutopilot(client, checked, status, helper);
  });
  client.onChange(() => {
    input.checked = client.settings.isOn;
  });
  return builder()('div', {}, element, renderHelperWarning(client, helper));
}

/**
 * Turns the autopilot on or off. Must run in the handler of a click: browsers accept a request for permissions only there.
 *
 * @returns whether it is on
 */
export async function switchAutopilot(
  client: AutopilotClient,
  isOn: boolean,
  status: HTMLElement,
  helper: HelperWatch,
): Promise<boolean> {
  const mayPin = isOn ? await requestPinPermissions().catch(() => false) : true;
  status.textContent = mayPin ? await client.changeSettings({ isOn }) : t('autopilotNotAllowed');
  if (!isOn || !mayPin) return false;
  await helper.look();
  // Else the warning at the switch says what is wrong.
  if (!helper.isMissing) status.textContent ||= await findProblem();
  return true;
}

/** Why pins are not possible at present, '' otherwise. Asking starts the helper. */
export async function findProblem(): Promise<string> {
  const answer = await sendPinRequest({ type: 'pins', fresh: true });
  return answer.ok ? '' : answer.error;
}
