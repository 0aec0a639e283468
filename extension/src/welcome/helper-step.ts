import { greetHelper } from '../helper/ask-helper.ts';
import { helperCommand } from '../helper/helper-command.ts';
import type { Hello } from '../helper/helper-connection.ts';
import { HelperError } from '../helper/helper-port.ts';
import { t } from '../language/translate.ts';
import { renderCard } from '../ui/card.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { listInstallations } from './installations.ts';
import { renderState } from './step-state.ts';

/** The step that checks the helper, and says how to install it where it is missing. */
export function renderHelperStep(greet: () => Promise<Hello> = greetHelper): HTMLElement {
  const el = builder();
  const state = renderState();
  const how = renderInstallations();
  how.hidden = true;
  const doctor = el('p', { class: 'hw-note' });

  const check = async () => {
    again.disabled = true;
    state.show(t('helperLooking'), false);
    doctor.replaceChildren();
    try {
      const hello = await greet();
      state.show(describeHelper(hello), hello.problem === '');
      doctor.replaceChildren(t('helperDoctor'), ' ', el('code', {}, helperCommand(hello.launcher, 'doctor')));
      how.hidden = true;
    } catch (error) {
      const isMissing = error instanceof HelperError && error.code === 'no-helper';
      state.show(isMissing ? t('helperMissing') : (error as Error).message, false);
      how.hidden = !isMissing;
    }
    again.disabled = false;
  };
  const again = renderButton(t('helperAgain'), check);
  void check();
  return renderCard(
    t('helperTitle'),
    el('p', {}, t('helperReason')),
    state.element,
    doctor,
    how,
    el('div', { class: 'hw-row' }, again),
  );
}

/** One sentence: version, engine, and what is missing. */
function describeHelper({ hostVersion, engine, problem }: Hello): string {
  if (problem !== '') return t('helperProblem', { version: hostVersion, problem });
  return t('helperReady', { version: hostVersion, engine: engine.split(' ')[0]! });
}

function renderInstallations(): HTMLElement {
  const el = builder();
  const { version } = chrome.runtime.getManifest();
  const installations = listInstallations(version, navigator.userAgent);
  const items = installations.flatMap(({ system, commands }) => [
    el('h3', {}, system),
    ...commands.map((command) => el('div', { class: 'hw-command' }, el('code', {}, command))),
  ]);
  return el('div', { class: 'hw-steps' }, el('p', {}, t('helperDownload', { version })), ...items);
}
